"""The command line of ``ipu-opt``: its options, and the passes among them in their order."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ipu_mlir.tools.command_line import Parser, UsageError
from ipu_mlir.tools.machine_flags import add_plugin_flags

if TYPE_CHECKING:
    from ipu_mlir.passes.core.pipeline_steps import Registry

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
    options, after = _cut(arguments)
    known, rest = _parser().parse_known_args([_with_two_dashes(argument) for argument in options])
    files = [argument for argument in rest if argument in ("", "-") or not argument.startswith("-")]
    known.flags = [_pass_flag(argument) for argument in rest if argument not in files]
    files += after
    if len(files) > 1:
        raise UsageError(f"expected one file, got {', '.join(files)}")
    if "" in files:
        raise UsageError("expected a file, or - for stdin, got an empty name")
    known.file = files[0] if files else "-"
    given = [f"--{known.flags[0][0]}"] if known.flags else []
    given += [flag for flag in ("--pass-pipeline", "--run-reproducer") if getattr(known, flag[2:].replace("-", "_"))]
    if len(given) > 1:
        raise UsageError(f"{given[1]} and {given[0]} exclude each other; put all passes in one of them")
    if known.run_reproducer and known.split_input_file:
        raise UsageError("--run-reproducer and --split-input-file exclude each other: such a file is one program")
    if known.trust_reproducer and not known.run_reproducer:
        raise UsageError("--trust-reproducer is about --run-reproducer, which is not given")
    return known


def _cut(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The arguments before and after ``--``, behind which all is the name of a file."""
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


class _OptParser(Parser):
    def pass_names(self) -> Sequence[str]:
        """Every pass and pipeline is an option."""
        from ipu_mlir.compilation.kernels import ALL_PASSES
        from ipu_mlir.passes.core import upstream_passes
        from ipu_mlir.passes.pipelines import PIPELINES

        return [*ALL_PASSES, *PIPELINES, *upstream_passes.NAMES]


def _parser() -> Parser:
    parser = _OptParser("ipu-opt", _DESCRIPTION, _EPILOG)
    parser.usage = "ipu-opt [FILE | -] [options] [--PASS[=OPTIONS] ...]"
    flag, value = parser.add_argument, "store_true"
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    flag("--pass-pipeline", metavar="TEXT", help="passes to run, as builtin.module(...)")
    add_plugin_flags(parser, "--load-pass")
    flag("--mlir-disable-threading", action=value, help="let MLIR use one thread")
    flag("--debug", action=value, help="print to stderr each pass as it begins, on which op, and how many ops it left")
    flag("--list-passes", action=value, help="list our passes with their options, pipelines, and upstream's passes")
    flag("--show-dialects", action=value, help="list the dialects of the programs that can be read")
    flag("--dump-pass-pipeline", action=value, help="print to stderr the pipeline that will run")
    flag("--split-input-file", action=value, help="take the parts between lines '// -----' as separate modules")
    flag("--verify-diagnostics", action=value, help="check the errors against '// expected-error @below {{...}}'")
    flag("--verify-each", type=_boolean, default=True, metavar="BOOL", help="check the IR after each pass (default: 1)")
    flag("--verify-roundtrip", action=value, help="check that the input is the same once it was written and read again")
    flag("--allow-unregistered-dialect", action=value, help="accept ops of dialects that nobody knows")
    flag("--emit-bytecode", action=value, help="write bytecode instead of text")
    flag("--mlir-print-op-generic", action=value, help="print all ops in the generic form")
    flag("--mlir-print-debuginfo", action=value, help="print locations")
    elide = "leave out constants of more than N elements"
    flag("--mlir-elide-elementsattrs-if-larger", dest="elide", type=int, metavar="N", help=elide)
    elide = "leave out resources of more than N characters"
    flag("--mlir-elide-resource-strings-if-larger", dest="elide_resources", type=int, metavar="N", help=elide)
    flag("--mlir-print-local-scope", action=value, help="print everything where it is used, without aliases")
    flag("--mlir-use-nameloc-as-prefix", action=value, help="name values after their locations")
    flag("--mlir-print-ir-before-all", action=value, help="print the IR to stderr before each pass")
    flag("--mlir-print-ir-after-all", action=value, help="print the IR to stderr after each pass")
    flag("--mlir-print-ir-before", metavar="PASSES", type=_names, default=(), help="print the IR before these passes")
    flag("--mlir-print-ir-after", metavar="PASSES", type=_names, default=(), help="print the IR after these passes")
    flag("--mlir-print-ir-after-change", action=value, help="print the IR after a pass only if it changed; alone: all")
    flag("--mlir-print-ir-after-failure", action=value, help="print the IR after a pass that fails")
    flag("--mlir-print-ir-module-scope", action=value, help="print the whole module, not the op of the pass")
    crash = "write the input and the pipeline to FILE if a pass fails or ends the process"
    flag("--mlir-pass-pipeline-crash-reproducer", dest="reproducer", metavar="FILE", help=crash)
    flag("--run-reproducer", action=value, help="run the pipeline that such a file holds")
    trust = "let that pipeline have passes that reach out of the program: to files, tools, the terminal"
    flag("--trust-reproducer", action=value, help=trust)
    flag("--mlir-pass-statistics", action=value, help="print to stderr how many ops each pass found and left")
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


def unknown_flag(name: str, registry: "Registry") -> str:
    """The error that no option and no pass is called ``name``, with the nearest one that there is."""
    from ipu_mlir.passes.core import upstream_passes
    from ipu_mlir.passes.core.registry import suggestion

    options = [option.lstrip("-") for action in _parser()._actions for option in action.option_strings]
    near = suggestion(name, [*options, *registry.passes, *registry.pipelines, *upstream_passes.NAMES])
    near = near.replace("mean '", "mean '--") or "; --list-passes names the passes"
    return f"there is no option and no pass '--{name}'{near}"


def _boolean(text: str) -> bool:
    if text not in ("0", "1", "true", "false"):
        raise argparse.ArgumentTypeError(f"expected 0 or 1, got '{text}'")
    return text in ("1", "true")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))
