"""``ipu-translate``: the array program and the NumPy source that a program runs as."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ipu_mlir.tools.command_line import Parser, UsageError, run_tool, write_output
from ipu_mlir.tools.machine_flags import FLAGS, add_entry_flag, add_plugin_flags, file_name, load_plugins

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.array_ir.statements import Program

_DESCRIPTION = "Translate a program of supersteps into an array program, and that into the NumPy source that runs."
_EPILOG = """\
Supersteps become linalg in one memory first (ipu-opt --ipu-to-host); such a program is taken as it is.
An array program says which elements of which array each statement reads and writes; all that the translator decides is
a pass on it. --from-arrays reads such a program back, so that a single pass can be tried on a text:

  ipu-translate --compile --to-arrays --print-after-all add.mlir
  ipu-translate --from-arrays --to-arrays --passes=forward-copies transpose.txt

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
    to.add_argument("--to-arrays", action="store_true", help="to the text of the array program")
    to.add_argument("--to-kernels", action="store_true", help="to the MLIR of what runs as machine code")
    to.add_argument("--to-llvm", action="store_true", help="to the same in the LLVM dialect")
    to.add_argument("--list-passes", action="store_true", help="print the passes on array programs and stop")
    flag("--from-arrays", action="store_true", help="FILE is the text of an array program that was just imported")
    add_entry_flag(parser)
    flag("--compile", action="store_true", help="compile linalg on tensors to supersteps first")
    flag(
        "--kernels",
        choices=("auto", "never", "always"),
        help="what is machine code (default: always, with --to-numpy never)",
    )
    flag("--passes", metavar="NAME,NAME", help="run these passes only; none for an empty list (with --to-arrays)")
    flag("--stop-after", metavar="NAME", help="run the passes up to this one (with --to-arrays)")
    flag("--print-after", metavar="NAME", action="append", default=[], help="print the program after a pass to stderr")
    flag("--print-after-all", action="store_true", help="print the program after each pass that changes it to stderr")
    flag("--elide", metavar="N", type=int, help="print constants of more than N elements as ...")
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    arguments = parser.parse_args(list(argv))
    arguments.to_kernels = arguments.to_kernels or arguments.to_llvm
    if not (arguments.to_numpy or arguments.to_arrays or arguments.to_kernels or arguments.list_passes):
        raise UsageError("say what to translate to: --to-numpy, --to-arrays, --to-kernels or --to-llvm")
    if (arguments.passes is not None or arguments.stop_after) and not arguments.to_arrays:
        raise UsageError("--passes and --stop-after leave an array program: add --to-arrays")
    return arguments


def _ipu_translate(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    load_plugins(arguments)
    write_output(arguments.output, _list() if arguments.list_passes else _translated(arguments))
    return 0


def _list() -> str:
    from ipu_mlir.runtime.translator.passes import ARRAY_PASSES

    width = max(len(each.name) for each in ARRAY_PASSES)
    return "".join(f"{each.name:{width}}  {each.description()}\n" for each in ARRAY_PASSES)


def _translated(arguments: argparse.Namespace) -> str:
    from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
    from ipu_mlir.runtime.translator.array_ir.printing import program_text
    from ipu_mlir.runtime.translator.passes import ARRAY_PASSES, ArrayPass, optimized, passes_named
    from ipu_mlir.runtime.translator.translate import translate_arrays

    passes = ARRAY_PASSES
    if arguments.passes is not None:
        passes = passes_named([name for name in arguments.passes.split(",") if name])
    if arguments.stop_after:
        (last,) = passes_named([arguments.stop_after])
        passes = passes[: passes.index(last) + 1]
    wanted = {each.name for each in passes_named(arguments.print_after)}
    program = _imported(arguments)
    before = program_text(program, arguments.elide)

    def after(each: ArrayPass, left: "Program") -> None:
        nonlocal before
        _verify(left, f"after pass {each.name!r}")
        if each.name in wanted or arguments.print_after_all:
            text = program_text(left, arguments.elide)
            if each.name in wanted or text != before:
                print(f"// after {each.name}\n{text}", file=sys.stderr)
            before = text

    _verify(program, "as it was read", renamed=False)
    options = TranslatorOptions(kernels=arguments.kernels or ("always" if arguments.to_kernels else "never"))
    program = optimized(program, options, passes, after)
    if arguments.to_arrays:
        return program_text(program, arguments.elide)
    translation = translate_arrays(program, options)
    return _kernels(translation.kernels, arguments.to_llvm) if arguments.to_kernels else translation.source


def _kernels(text: str, to_llvm: bool) -> str:
    from ipu_mlir.runtime.engine.native import lowered

    if not text:
        return "// the program has no kernels\n"
    return f"{lowered(text)}\n" if to_llvm else text


def _verify(program: "Program", when: str, renamed: bool = True) -> None:
    from ipu_mlir.dialects.support.errors import CompileError
    from ipu_mlir.runtime.translator.array_ir.verify import errors_of

    errors = errors_of(program, renamed)
    if errors:
        raise CompileError(f"the array program {when} is not legal:\n  " + "\n  ".join(errors))


def _imported(arguments: argparse.Namespace) -> "Program":
    from ipu_mlir.compilation.entry import entry_name
    from ipu_mlir.compilation.lowering import to_host
    from ipu_mlir.compilation.sources import load_module
    from ipu_mlir.runtime.translator.array_ir.parsing import parse_program
    from ipu_mlir.runtime.translator.translate import array_program
    from ipu_mlir.tools.program_files import read_program

    source = read_program(arguments.file)
    if arguments.from_arrays:
        if isinstance(source.content, bytes):
            raise UsageError("--from-arrays takes text, not bytecode")
        return parse_program(source.content)
    module = load_module(source)
    entry = entry_name(module, arguments.entry)
    if arguments.compile:
        import ipu_mlir

        module = ipu_mlir.compile(module, entry=entry).module("host")
    else:
        to_host(module.operation)
    return array_program(module, entry)


if __name__ == "__main__":
    sys.exit(main())
