"""MLIR text and bytecode -> modules, with the file's name in every location and every error.

``parse_module`` takes whatever a user has; ``read_source`` and ``split_input`` are for tools that work on the text.
"""

import json
import re
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect
from ipu_mlir.dialects.support.files import FileTooLarge, read_bytes
from ipu_mlir.dialects.support.readable import DEEPEST, refuse_unreadable
from ipu_mlir.dialects.support.resources import inline_resources
from ipu_mlir.dialects.support.text import mlir_string, printable
from ipu_mlir.dialects.support.trial import tried

_BYTECODE = b"ML\xefR"
_SPLIT_LINE = re.compile(r"^// -----[ \t]*\n", re.MULTILINE)
_MOST_SURVIVED = 10_000
_survived: set[int] = set()
"""Hashes of what was parsed in a child of this process without ending it: programs are compiled again and again."""
_SEVERITIES = frozenset({"error", "warning", "remark", "note"})
_ERRORS = "\0"  # what no printed module begins with
_NOT_ONE_OP = "source must contain a single top-level operation"


@dataclass(frozen=True)
class Source:
    """Text or bytecode of a module, the name that its errors carry, and the lines that came before it in its file."""

    content: str | bytes
    name: str
    line_offset: int = 0


def parse_module(source: str | bytes | Path | Source, context: ir.Context, name: str = "<text>") -> ir.Module:
    """The module that ``source`` holds, verified.

    Args:
        source: a path, text, or bytecode. A string is a path if it has one line and ends in ``.mlir`` or ``.mlirbc``.
        name: file name for locations and errors of text and bytecode.

    Raises:
        DiagnosedError: the file cannot be read, or is not valid MLIR; one line per error, each with its place.
    """
    if isinstance(source, Source):
        return _parse(source, context)
    if isinstance(source, Path) or (isinstance(source, str) and _looks_like_path(source)):
        return _parse(read_source(source), context)
    return _parse(source_of_bytes(source, name) if isinstance(source, bytes) else Source(source, name), context)


def read_source(path: str | Path) -> Source:
    """The content of a file, as text unless it is bytecode.

    Raises:
        DiagnosedError: there is no such file, or it is neither text nor bytecode.
    """
    try:
        return source_of_bytes(read_bytes(path), str(path))
    except OSError as error:
        raise DiagnosedError([Diagnostic(f"cannot read the file: {error.strerror}", str(path))]) from error
    except ValueError as error:  # a zero byte in its name
        raise DiagnosedError([Diagnostic(f"cannot read the file: {error}", str(path))]) from error
    except FileTooLarge as error:
        raise DiagnosedError([Diagnostic(str(error), str(path))]) from error


def source_of_bytes(content: bytes, name: str) -> Source:
    """``content`` of a file or of stdin, as text unless it is bytecode.

    Raises:
        DiagnosedError: it is neither text nor bytecode.
    """
    if content.startswith(_BYTECODE):
        return Source(content, name)
    try:
        return Source(content.decode(), name)
    except UnicodeDecodeError as error:
        message = f"neither MLIR text nor bytecode: byte {error.start} is not UTF-8"
        raise DiagnosedError([Diagnostic(message, name)]) from error


def split_input(source: Source) -> list[Source]:
    """The parts of a text between lines ``// -----``, each of which counts its lines from the start of the file."""
    if isinstance(source.content, bytes):
        return [source]
    parts: list[Source] = []
    start, line = 0, source.line_offset
    for match in _SPLIT_LINE.finditer(source.content):
        parts.append(Source(source.content[start : match.start()], source.name, line))
        line += source.content.count("\n", start, match.end())
        start = match.end()
    return [*parts, Source(source.content[start:], source.name, line)]


def _looks_like_path(source: str) -> bool:
    return "\n" not in source and source.endswith((".mlir", ".mlirbc"))


def _parse(source: Source, context: ir.Context) -> ir.Module:
    content, name = source.content, printable(source.name)
    if stablehlo.mentions(content):
        stablehlo.load(context)
    with context:
        if isinstance(content, bytes):
            text = _text_of_bytecode(content, name)
        else:
            text = "\n" * source.line_offset + stablehlo.with_generic_ops(content)
            refuse_unreadable(text, name)
        context.allow_unregistered_dialects |= stablehlo.has_marks(text)
        text = inline_resources(text, name)
        return _parse_once(text, name, context)


def _parse_once(text: str, name: str, context: ir.Context) -> ir.Module:
    """The module of ``text``, parsed in a child of the process, which hands it over as bytecode.

    Some of what is no valid program ends the process that parses it; and to read bytecode costs less than the text.

    Raises:
        DiagnosedError: ``text`` is not valid, or the child came to such an end.
    """
    key = hash((text, context.allow_unregistered_dialects))
    if key in _survived:
        return _module_here(text, name)
    ending, bytecode = tried(lambda: _bytecode_of(text, name), *_limits(text))
    if ending:
        raise DiagnosedError([Diagnostic(f"MLIR cannot parse this text: {ending}; is the file damaged?", name)])
    if len(_survived) >= _MOST_SURVIVED:
        _survived.clear()
    _survived.add(key)
    return ir.Module.parse(bytecode) if bytecode else _module_here(text, name)


def _limits(content: str | bytes) -> tuple[int, int]:
    """The seconds, and the bytes of memory, that parsing may take."""
    return 60 + len(content) // 1_000_000, (8 << 30) + 64 * len(content)


def _module_here(text: str, name: str) -> ir.Module:
    """The module of ``text``, which this process parses itself: it is known to survive that."""
    return _parse_text(text, name)


def _bytecode_of(text: str, name: str) -> bytes:
    """The module of ``text``; empty where the parser has something to say, which it says again outside."""
    with collect(ir.Context.current, _SEVERITIES) as said:
        try:
            module = _parse_text(text, name)
        except DiagnosedError:
            return b""
    if text.count("\n#") > DEEPEST:  # names of attributes, each of which may be inside of the next
        module.operation.get_asm(large_elements_limit=16, enable_debug_info=True)
    if said:
        return b""
    buffer = BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _text_of_bytecode(content: bytes, name: str) -> str:
    """The module of ``content`` as text, printed by a child: damaged bytecode can also break the memory of its reader.

    Raises:
        DiagnosedError: it is no valid bytecode, or has a string that is not UTF-8.
    """
    ending, printed = tried(lambda: _printed(content).encode(errors="replace"), *_limits(content))
    said = printed.decode()
    errors = [Diagnostic(*each) for each in json.loads(said[1:])] if said.startswith(_ERRORS) else []
    if ending or not said:
        errors = [Diagnostic(f"MLIR cannot parse this bytecode: {ending or 'it fails'}; is the file damaged?")]
    if not errors:
        try:
            refuse_unreadable(said, name)
            return said
        except DiagnosedError as error:
            errors = [replace(each, line=0) for each in error.diagnostics]  # a line of the print is none of the file
    # A place in the bytecode has no line; a place that the bytecode itself names is one in its source.
    raise DiagnosedError(replace(each, file=name) if each.file in ("", "-") else each for each in errors)


def _printed(content: bytes) -> str:
    with collect(ir.Context.current) as errors:
        try:
            if stablehlo.is_portable(content):
                return stablehlo.from_portable(content, ir.Context.current)
            return ir.Module.parse(content).operation.get_asm(enable_debug_info=True)
        except (ir.MLIRError, ValueError):
            found = errors or [Diagnostic("not valid MLIR bytecode")]
            return _ERRORS + json.dumps([(each.message, each.file, each.line, each.column) for each in found])


def _parse_text(text: str, name: str) -> ir.Module:
    with collect(ir.Context.current) as errors:
        try:
            op = ir.Operation.parse(text, source_name=name)
        except ir.MLIRError as error:
            if len(errors) == 1 and errors[0].message.startswith(_NOT_ONE_OP):
                return _parse_many(text, name)
            found = errors or [Diagnostic("not valid MLIR", name)]
            raise DiagnosedError(_with_hint_at_end(each, text) for each in found) from error
    return _as_module(op.operation, name)


def _with_hint_at_end(error: Diagnostic, text: str) -> Diagnostic:
    """``error`` with a hint if it stands at the end of ``text``, where MLIR only says what is missing.

    MLIR moves such an error back by a character and then over the blanks before it.
    """
    before = text.rstrip()[:-1].rstrip()
    end = (before.count("\n") + 1, len(before) - before.rfind("\n"))
    if (error.line, error.column) >= end:
        return replace(error, message=f"{error.message} (the input ends here; is it cut off?)")
    return error


def _parse_many(text: str, name: str) -> ir.Module:
    """A module around the ops of ``text``, which is known to be valid.

    ``Module.parse`` makes that module but takes no file name, so the names in the locations are put in afterwards.
    """
    printed = ir.Module.parse(text).operation.get_asm(enable_debug_info=True, assume_verified=True)
    return ir.Module.parse(printed.replace('loc("-":', f"loc({mlir_string(name)}:"))


def _as_module(op: ir.Operation, name: str) -> ir.Module:
    """The op that a text holds, as the owner that MLIR's tools expect; another op than a module gets one around it."""
    if op.name != "builtin.module":
        module = ir.Module.create(ir.Location.file(name, 0, 0))
        module.body.append(op)
        return module
    module = ir.Module.create(op.location)
    for child in list(op.regions[0].blocks[0]):
        module.body.append(child.operation)
    for attribute in op.attributes:
        module.operation.attributes[attribute] = op.attributes[attribute]
    return module
