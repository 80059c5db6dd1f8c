"""``ipu-translate``: the NumPy source and the kernels that a program runs as."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import FLAGS, add_entry_flag, add_plugin_flags, file_name, load_plugins

_DESCRIPTION = "Translate a program of supersteps into the NumPy source that runs, and what of it is machine code."
_EPILOG = """\
Supersteps become linalg in one memory first (ipu-opt --ipu-to-host prints it); such a program is taken as it is.

  ipu-translate --compile --to-numpy add.mlir
  ipu-translate --compile --to-kernels --kernels=auto add.mlir

exit status: 0 done, 1 the program is wrong, 2 wrong usage
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-translate", _ipu_translate, argv, FLAGS)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-translate", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    flag("file", metavar="FILE", type=file_name, nargs="?", default="-", help="MLIR text or bytecode (default: stdin)")
    add_plugin_flags(parser)
    to = parser.add_mutually_exclusive_group()
    to.add_argument("--to-numpy", action="store_true", help="to Python source that calls NumPy")
    to.add_argument("--to-kernels", action="store_true", help="to the MLIR of what runs as machine code")
    to.add_argument("--to-llvm", action="store_true", help="to the same in the LLVM dialect")
    add_entry_flag(parser)
    flag("--compile", action="store_true", help="compile linalg on tensors to supersteps first")
    flag(
        "--kernels",
        choices=("auto", "never", "always"),
        help="what is machine code (default: always, with --to-numpy never)",
    )
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    arguments = parser.parse_args(list(argv))
    arguments.to_kernels = arguments.to_kernels or arguments.to_llvm
    if not (arguments.to_numpy or arguments.to_kernels):
        raise UsageError("say what to translate to: --to-numpy, --to-kernels or --to-llvm")
    return arguments


def _ipu_translate(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    load_plugins(arguments)
    write_output(arguments.output, _translated(arguments))
    return 0


def _translated(arguments: argparse.Namespace) -> str:
    from ipu_mlir.compilation.entry import entry_name
    from ipu_mlir.compilation.lowering import to_host
    from ipu_mlir.compilation.sources import load_module
    from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
    from ipu_mlir.runtime.translator.translate import translate
    from ipu_mlir.tools.program_files import read_program

    module = load_module(read_program(arguments.file))
    entry = entry_name(module, arguments.entry)
    if arguments.compile:
        import ipu_mlir

        module = ipu_mlir.compile(module, entry=entry).module("host")
    else:
        _refuse_tensors(module, entry)
        to_host(module.operation)
    kernels = arguments.kernels or ("always" if arguments.to_kernels else "never")
    translation = translate(module, entry, TranslatorOptions(kernels=kernels))
    return _kernels(translation.kernels, arguments.to_llvm) if arguments.to_kernels else translation.source


def _refuse_tensors(module: Any, entry: str) -> None:
    from ipu_mlir.dialects.support.bindings import ir
    from ipu_mlir.dialects.support.errors import CompileError

    kind = ir.SymbolTable(module.operation)[entry].attributes["function_type"].value
    for each in (*kind.inputs, *kind.results):
        if isinstance(each, ir.RankedTensorType):
            raise CompileError(f"@{entry} takes or gives {each}, and is not compiled yet; add --compile")


def _kernels(text: str, to_llvm: bool) -> str:
    from ipu_mlir.runtime.engine.native import lowered

    if not text:
        return "// the program has no kernels\n"
    return f"{lowered(text)}\n" if to_llvm else text


if __name__ == "__main__":
    sys.exit(main())
