"""``ipu-translate``: the NumPy source that a program runs as."""

import argparse
from collections.abc import Sequence

from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import FLAGS, add_entry_flag, file_name

_DESCRIPTION = "Translate a program of supersteps into the NumPy source that runs it."
_EPILOG = "exit status: 0 done, 1 the program is wrong, 2 wrong usage\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-translate", _ipu_translate, argv, FLAGS)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-translate", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    flag("file", metavar="FILE", type=file_name, nargs="?", default="-", help="MLIR text or bytecode (default: stdin)")
    flag("--to-numpy", action="store_true", help="to Python source that calls NumPy")
    add_entry_flag(parser)
    flag("--compile", action="store_true", help="compile linalg on tensors to supersteps first")
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    arguments = parser.parse_args(list(argv))
    if not arguments.to_numpy:
        raise UsageError("say what to translate to: --to-numpy")
    return arguments


def _ipu_translate(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    write_output(arguments.output, _source(arguments))
    return 0


def _source(arguments: argparse.Namespace) -> str:
    from ipu_mlir.compilation.entry import entry_name
    from ipu_mlir.compilation.sources import load_module
    from ipu_mlir.tools.programs import read_program

    module = load_module(read_program(arguments.file))
    if arguments.compile:
        import ipu_mlir

        return ipu_mlir.compile(module, entry=arguments.entry).source()
    from ipu_mlir.runtime.translator.translate import translate

    return translate(module, entry_name(module, arguments.entry)).source
