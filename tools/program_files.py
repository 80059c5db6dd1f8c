"""The programs that a tool reads: a file or stdin, and their lines again for errors that speak of them."""

from functools import lru_cache
from typing import TYPE_CHECKING

from ipu_mlir.tools.standard_streams import read_stdin

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.parsing import Source

_read: "dict[str, Source]" = {}
"""By the names that stand in locations. Other files that a location names are nothing that the user gave us to read."""


def read_program(file: str) -> "Source":
    """The text or bytecode of ``file``; ``-`` is stdin. A file of another framework is imported.

    Raises:
        DiagnosedError: it cannot be read, or is neither text nor bytecode.
        CompileError: it cannot be imported.
    """
    from ipu_mlir.dialects.support.parsing import Source, read_source, source_of_bytes
    from ipu_mlir.frontends.table import front_end_of, import_program

    _lines.cache_clear()
    front_end = front_end_of(file)
    if front_end is not None:
        program = import_program(front_end, file, None, {}).program
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
