"""The programs that a tool reads: a file or stdin, and their lines again for errors that speak of them."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ipu_mlir.tools.standard_streams import read_stdin

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.parsing import Source

_read: "dict[str, Source]" = {}
"""By the names that stand in locations. Other files that a location names are nothing that the user gave us to read."""


def read_program(file: str, inputs: "Sequence[Any]" = ()) -> "Source":
    """The text or bytecode of ``file``; ``-`` is stdin. A file of another framework is imported.

    Args:
        inputs: arrays of the sizes that the model of another framework leaves open.

    Raises:
        DiagnosedError: it cannot be read, or is neither text nor bytecode.
        CompileError: it cannot be imported, or it leaves sizes open that no inputs say.
    """
    from ipu_mlir.dialects.support.errors import CompileError
    from ipu_mlir.dialects.support.parsing import Source, read_source, source_of_bytes
    from ipu_mlir.frontends.table import OpenProgram, front_end_of, import_program
    from ipu_mlir.specs.specs import spec_of

    _lines.cache_clear()
    front_end = front_end_of(file)
    if front_end is not None:
        program = import_program(front_end, file, None, {}).program
        if isinstance(program, OpenProgram) and inputs:
            program = import_program(front_end, file, [spec_of(each) for each in inputs], {}).program
        if isinstance(program, OpenProgram):
            open_ones = ", ".join(kind for shape, kind in program.inputs if None in shape)
            raise CompileError(
                f"{file} leaves sizes open, of {open_ones}; give ipu-run --inputs FILE.npz, or the model fixed sizes"
            )
        return Source(program.operation.get_asm(enable_debug_info=True), file)
    source = source_of_bytes(read_stdin(), "<stdin>") if file == "-" else read_source(file)
    _read[source.name] = source
    return source


def forget_programs() -> None:
    """Nothing has been read: a tool begins."""
    _read.clear()
    _lines.cache_clear()


def lines_of(name: str) -> list[str]:
    """The lines of the program that was read under ``name``; none if it is bytecode, or was not read."""
    return _lines(name)


@lru_cache(maxsize=1)
def _lines(name: str) -> list[str]:
    source = _read.get(name)
    return source.content.split("\n") if source is not None and isinstance(source.content, str) else []
