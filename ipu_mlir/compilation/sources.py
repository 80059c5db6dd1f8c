"""From what a user passes (a path, MLIR text, a module) to a module of our own."""

import io
import linecache
import os
import re
import reprlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from ipu_mlir.compilation.supported_ops import unsupported_ops, way_out_of
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, quoted
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.dialects.support.parsing import Source, parse_module, read_source
from ipu_mlir.dialects.support.readable import refuse_unreadable
from ipu_mlir.frontends.stablehlo import import_stablehlo

_LONGEST_PATH = 4096
_MOST_QUOTES = 20
_UNREGISTERED = "unregistered dialect"
_UNKNOWN_DIALECT = re.compile(r"Dialect `(\w+)' not found")


def load_module(source: Any) -> ir.Module:
    """The program of ``source`` as ``read_module`` reads it; StableHLO as linalg on tensors.

    Raises:
        CompileError: as of ``read_module``, or StableHLO cannot be imported.
    """
    module = read_module(source)
    import_stablehlo(module.operation)
    return module


def read_module(source: Any) -> ir.Module:
    """The program of ``source`` as a new module.

    Args:
        source: a path, MLIR text or bytecode, a ``Source`` of them, or an ``ir.Module``, which is copied and stays as
            it is.

    Raises:
        CompileError: the file is missing, or the text does not parse or verify; with file, line and column.
    """
    if isinstance(source, ir.Module):
        return _copy(source)
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        source = Path(source)
    elif not isinstance(source, str | bytes | Source):
        raise CompileError(
            f"cannot compile {reprlib.repr(source)}, which is of type {type(source).__name__}; expected a path, "
            "MLIR text, an ir.Module or a Python function on tensors"
        )
    try:
        return parse_module(source, ipu.context())
    except DiagnosedError as error:
        raise _with_all_unknown_ops(error, source) from error


def with_quotes(error: IpuError, source: Any) -> IpuError:
    """``error`` with the lines of the program that it speaks of as a note, where their text is at hand."""
    notes: list[str] = []
    for diagnostic in error.diagnostics[:_MOST_QUOTES] if isinstance(error, DiagnosedError) else ():
        lines = quoted(diagnostic, _lines_at_hand(source, diagnostic.file))
        if len(error.diagnostics) > 1 and lines:
            notes.append(f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}:")
        notes += lines
    if notes and not hasattr(error, "__notes__"):
        error.add_note("\n".join(notes))
    return error


def _lines_at_hand(source: Any, file: str) -> list[str]:
    """The lines of ``file``, if that is the program ``source``, or may be the file of a Python function."""
    if hasattr(source, "trace_call"):
        return linecache.getlines(file)
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        try:
            source = read_source(Path(source))
        except DiagnosedError:
            return []
    elif isinstance(source, str):
        source = Source(source, "<text>")
    if not isinstance(source, Source) or isinstance(source.content, bytes) or source.name != file:
        return []
    return [""] * source.line_offset + source.content.split("\n")


def _is_path(text: str) -> bool:
    """True if a string names a file; text of a program has lines, or is no file that exists."""
    if "\n" in text or len(text) > _LONGEST_PATH:
        return False
    return text.endswith((".mlir", ".mlirbc")) or os.path.exists(text)


def _copy(module: ir.Module) -> ir.Module:
    """A copy in a context that knows our dialect; a context that does not is left alone."""
    outline = module.operation.get_asm(large_elements_limit=16, large_resource_limit=16, enable_debug_info=True)
    refuse_unreadable(outline, "<module>")
    if "dense_resource<" in outline.replace("dense_resource<__elided__>", ""):
        # Text is the one form in which the data of resources can be read.
        return parse_module(module.operation.get_asm(enable_debug_info=True), ipu.context(), "<module>")
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    context = module.context if module.context.is_dialect_loaded("ipu") else ipu.context()
    if module.context.is_dialect_loaded("stablehlo"):
        stablehlo.load(context)
    with context:
        return ir.Module.parse(buffer.getvalue())


def _with_all_unknown_ops(error: DiagnosedError, source: Path | Source | str | bytes) -> DiagnosedError:
    """An error of the parser, which stops at the first op that it does not know, with all such ops or a way out."""
    if any(_UNREGISTERED in each.message for each in error.diagnostics):
        context = ipu.context()
        context.allow_unregistered_dialects = True
        return DiagnosedError(unsupported_ops(parse_module(source, context).operation))
    return DiagnosedError(map(_with_way_out, error.diagnostics))


def _with_way_out(diagnostic: Diagnostic) -> Diagnostic:
    unknown = _UNKNOWN_DIALECT.search(diagnostic.message)
    if unknown is None:
        return diagnostic
    return replace(diagnostic, message=f"{diagnostic.message.strip()}; {way_out_of(unknown.group(1))}")
