"""From what a user hands over (a path, MLIR text, a module) to a module of our own."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.diagnostics import DiagnosedError, plain_diagnostic
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.resources import has_resources, inline_resources

_SUFFIXES = (".mlir", ".mlirbc")
_BYTECODE_MAGIC = b"ML\xefR"


def load_module(source: Any) -> ir.Module:
    """The program of ``source`` as a new module.

    Args:
        source: a path, MLIR text, or an ``ir.Module``, which is copied and stays as it is.

    Raises:
        CompileError: the file is missing, or the text does not parse or verify; with file, line and column.
    """
    if isinstance(source, ir.Module):
        return _copy(source)
    if isinstance(source, bytes):
        return _parse(source, "<bytecode>")
    if isinstance(source, os.PathLike) or (isinstance(source, str) and _is_path(source)):
        return _read(Path(source))
    if isinstance(source, str):
        return _parse(source, "<text>")
    raise CompileError(
        f"cannot compile a {type(source).__name__}; expected a path, MLIR text, an ir.Module or an @ipu.function"
    )


def diagnosed(error: ir.MLIRError, name: str = "<text>") -> DiagnosedError:
    """``error`` for the user, one line per diagnostic; MLIR calls text without a file ``-``, we call it ``name``."""
    plain = [plain_diagnostic(diagnostic) for diagnostic in error.error_diagnostics]
    return DiagnosedError(replace(each, file=name) if each.file in ("-", "") else each for each in plain)


def _is_path(text: str) -> bool:
    if "\n" in text or len(text) > 1000:
        return False
    return text.endswith(_SUFFIXES) or os.path.exists(text)


def _read(path: Path) -> ir.Module:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CompileError(f"cannot read {path}: {error.strerror}") from error
    if data.startswith(_BYTECODE_MAGIC):
        return _parse(data, str(path))
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise CompileError(f"{path} is neither MLIR text nor MLIR bytecode: {error.reason}") from error
    if has_resources(text):
        return _parse(text, str(path))
    with ipu.context():
        try:
            return ir.Module.parseFile(str(path))  # unlike text, a file gives the ops their locations
        except ir.MLIRError as error:
            raise diagnosed(error, str(path)) from error


def _parse(data: str | bytes, name: str) -> ir.Module:
    if isinstance(data, str):
        data = inline_resources(data, name)
    with ipu.context():
        try:
            return ir.Module.parse(data)
        except ir.MLIRError as error:
            raise diagnosed(error, name) from error


def _copy(module: ir.Module) -> ir.Module:
    """A copy in a context that knows our dialect; a context that does not is left alone."""
    outline = module.operation.get_asm(large_elements_limit=16, large_resource_limit=16)
    if has_resources(outline.replace("dense_resource<__elided__>", "")):
        return _parse(module.operation.get_asm(enable_debug_info=True), "<module>")
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    context = module.context if module.context.is_dialect_loaded("ipu") else ipu.context()
    with context:
        return ir.Module.parse(buffer.getvalue())
