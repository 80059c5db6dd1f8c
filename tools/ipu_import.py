"""``ipu-import``: a program of another framework as linalg on tensors."""

import argparse
from collections.abc import Sequence

from ipu_mlir.tools.command_line import Parser, run_tool, write_output

_DESCRIPTION = "Write a program as linalg on tensors, which all tools take."
_EPILOG = """\
FILE is an ONNX model (model.onnx), StableHLO as text, bytecode or portable artifact, or linalg, which is checked only.

examples:
  ipu-import model.onnx -o model.mlir
  ipu-import step.stablehlo.mlir | ipu-run -

exit status: 0 done, 1 the program is wrong or cannot be imported, 2 wrong usage
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tool; gives the exit status."""
    return run_tool("ipu-import", _ipu_import, argv)


def _ipu_import(argv: Sequence[str]) -> int:
    arguments = _parse(argv)
    from ipu_mlir.compilation.sources import load_module
    from ipu_mlir.compilation.supported_ops import unsupported_ops
    from ipu_mlir.dialects.support.diagnostics import DiagnosedError
    from ipu_mlir.dialects.support.printing import to_text
    from ipu_mlir.tools.program_files import read_program

    module = load_module(read_program(arguments.file))
    if found := [each for each in unsupported_ops(module.operation) if "sizes are not all known" not in each.message]:
        raise DiagnosedError(found)
    text = to_text(module, locations=not arguments.no_locations, large_elements_limit=arguments.elide)
    write_output(arguments.output, text)
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = Parser("ipu-import", _DESCRIPTION, _EPILOG)
    flag = parser.add_argument
    flag("file", metavar="FILE", help="the program; - is stdin, for MLIR")
    flag("-o", dest="output", metavar="FILE", default="-", help="write to FILE, whole or not at all (default: stdout)")
    flag("--no-locations", action="store_true", help="leave out where ops come from: nodes, layers, lines")
    elide = "leave out constants of more than N elements; such text is for reading only"
    flag("--mlir-elide-elementsattrs-if-larger", dest="elide", type=int, metavar="N", help=elide)
    return parser.parse_args(argv)


if __name__ == "__main__":
    raise SystemExit(main())
