"""The command line of ``ipu-opt``: its options, and the passes among them in their order."""

import argparse
from collections.abc import Sequence

from ipu_mlir.tools.command_line import Parser, UsageError

_DESCRIPTION = "Run passes over MLIR: those of upstream by their names, and ours."
_EPILOG = """\
passes:
  --PASS or --PASS=OPTIONS runs a pass or a named pipeline, in the order of the flags:
      ipu-opt in.mlir --canonicalize --ipu-partition='grain=16' --cse
  --pass-pipeline says the same, and on which ops:
      ipu-opt in.mlir --pass-pipeline='builtin.module(canonicalize,ipu-partition{grain=2},func.func(cse))'
  --list-passes names them all.

exit status: 0 done, 1 the program is wrong or a pass refused it, 2 wrong usage
"""


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of ``ipu-opt``, with ``file`` (``-`` is stdin) and ``flags``, the passes as ``[(name, options)]``.

    Raises:
        UsageError: an option is wrong, or there are two files.
    """
    known, rest = _parser().parse_known_args([_with_two_dashes(argument) for argument in arguments])
    files = [argument for argument in rest if argument == "-" or not argument.startswith("-")]
    if len(files) > 1:
        raise UsageError(f"expected one file, got {', '.join(files)}")
    known.file = files[0] if files else "-"
    known.flags = [_pass_flag(argument) for argument in rest if argument not in files]
    if known.flags and known.pass_pipeline is not None:
        raise UsageError(f"--pass-pipeline and --{known.flags[0][0]} exclude each other; put all passes in one of them")
    return known


def _parser() -> Parser:
    parser = Parser("ipu-opt", _DESCRIPTION, _EPILOG)
    parser.usage = "ipu-opt [FILE | -] [options] [--PASS[=OPTIONS] ...]"
    flag, value = parser.add_argument, "store_true"
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    flag("--pass-pipeline", metavar="TEXT", help="passes to run, as builtin.module(...)")
    flag("--load-pass", metavar="FILE.py", action="append", default=[], help="add the passes of a Python file")
    flag("--list-passes", action=value, help="list our passes with their options, and the named pipelines")
    flag("--split-input-file", action=value, help="take the parts between lines '// -----' as separate modules")
    flag("--verify-diagnostics", action=value, help="check the errors against '// expected-error @below {{...}}'")
    flag("--verify-each", type=_boolean, default=True, metavar="BOOL", help="check the IR after each pass (default: 1)")
    flag("--allow-unregistered-dialect", action=value, help="accept ops of dialects that nobody knows")
    flag("--emit-bytecode", action=value, help="write bytecode instead of text")
    flag("--mlir-print-op-generic", action=value, help="print all ops in the generic form")
    flag("--mlir-print-debuginfo", action=value, help="print locations")
    elide = "leave out constants of more than N elements"
    flag("--mlir-elide-elementsattrs-if-larger", dest="elide", type=int, metavar="N", help=elide)
    flag("--mlir-print-ir-before-all", action=value, help="print the IR to stderr before each pass")
    flag("--mlir-print-ir-after-all", action=value, help="print the IR to stderr after each pass")
    flag("--mlir-print-ir-before", metavar="PASSES", type=_names, default=(), help="print the IR before these passes")
    flag("--mlir-print-ir-after", metavar="PASSES", type=_names, default=(), help="print the IR after these passes")
    flag("--mlir-timing", action=value, help="print to stderr how long each pass took")
    return parser


def _with_two_dashes(argument: str) -> str:
    """``-cse`` as ``--cse``: MLIR's tools take both."""
    return f"-{argument}" if len(argument) > 2 and argument[0] == "-" != argument[1] else argument


def _pass_flag(argument: str) -> tuple[str, str]:
    name, _, options = argument.lstrip("-").partition("=")
    if not name:
        raise UsageError(f"expected an option or a pass, got '{argument}'")
    return name, options.removeprefix("{").removesuffix("}") if options.startswith("{") else options


def _boolean(text: str) -> bool:
    if text not in ("0", "1", "true", "false"):
        raise argparse.ArgumentTypeError(f"expected 0 or 1, got '{text}'")
    return text in ("1", "true")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))
