"""Errors of verifiers and passes: reported at the op that they speak of, collected, and shown in one line each.

``fail`` reports from a verifier. ``collect`` catches what MLIR and we report while some code runs, as plain
``Diagnostic`` values, and ``DiagnosedError`` carries them to the user.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.errors import CompileError, Settings
from ipu_mlir.dialects.support.text import printable


@dataclass(frozen=True)
class Diagnostic:
    """One message about one place in a source file; ``line`` and ``column`` are 0 where the place is unknown."""

    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    severity: str = "error"
    notes: tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        """``file:line:col: error: message``, on one line and printable.

        >>> str(Diagnostic("expected ')'", "a.mlir", 3, 7))
        "a.mlir:3:7: error: expected ')'"
        """
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else f"{self.file}: " if self.file else ""
        return printable(f"{place}{self.severity}: {' '.join(self.message.split())}")


_WIDEST = 200
"""So many characters of a line are quoted, those around the caret."""


def quoted(diagnostic: Diagnostic, lines: Sequence[str]) -> list[str]:
    """Of ``lines``, those of its file, the one that ``diagnostic`` speaks of, and one with a caret under the column.

    >>> quoted(Diagnostic("'y' is not known", "a.py", 2, 5), ["x = 1", "x + y"])
    ['x + y', '    ^']
    """
    if not 0 < diagnostic.line <= len(lines):
        return []
    line = lines[diagnostic.line - 1].rstrip("\r\n")
    before = len(line.encode()[: max(diagnostic.column - 1, 0)].decode(errors="ignore"))  # columns count bytes
    start = max(0, before - _WIDEST // 2) if len(line) > _WIDEST else 0
    shown = "".join(each if each.isprintable() or each == "\t" else "?" for each in line[start : start + _WIDEST])
    indent = "".join("\t" if each == "\t" else " " for each in shown[: before - start])
    return [shown, f"{indent}^"] if shown.strip() else []


class DiagnosedError(CompileError):
    """The program is wrong in the places that ``diagnostics`` name; the text has one line for each."""

    def __init__(self, diagnostics: Iterable[Diagnostic], settings: tuple[Settings, ...] = ()) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(map(str, self.diagnostics)), settings=settings)


_failing: list[Any] = []
"""The op that ``fail`` reports at this moment: the bindings take no notes, so whoever listens adds that on the op."""


def fail(op: Any, message: str) -> bool:
    """Report ``message`` at ``op``'s location, as MLIR's own verifiers do, and answer False."""
    _failing.append(op.operation)
    try:
        op.location.emit_error(f"'{op.operation.name}' op {message}")
    finally:
        _failing.pop()
    return False


def locations_in(location: Any, inner: tuple[str, ...]) -> Iterator[Any]:
    """``location`` and what it is made of, each once: the parts of a fused one, and the attributes ``inner`` of others.

    They may be nested as deeply as a program is large, and share their parts.
    """
    waiting, seen = [location], set()
    while waiting:
        here = waiting.pop()
        if here.attr in seen:
            continue
        seen.add(here.attr)
        yield here
        parts = (*getattr(here, "locations", ()), *(getattr(here, each, None) for each in inner))
        waiting += (part for part in reversed(parts) if part is not None)


def source_place(location: Any) -> tuple[str, int, int]:
    """File, line and column that an ``ir.Location`` stands for: of several, the first that is known.

    A name gives the place that it names, a call the place of the callee or else of the caller, a fused location that of
    its first known part.
    """
    for each in locations_in(location, ("callee", "child_loc", "caller")):
        if file := getattr(each, "filename", None):
            return str(file).strip('"'), each.start_line, each.start_col
    return "", 0, 0


def diagnostic_at(location: Any, message: str, severity: str = "error") -> Diagnostic:
    """``message`` as a plain value, at the place that ``location`` stands for."""
    return Diagnostic(message, *source_place(location), severity=severity)


def plain_diagnostic(diagnostic: Any) -> Diagnostic:
    """A diagnostic of MLIR, with its notes, as a plain value that outlives the handler it was given to."""
    return Diagnostic(
        str(diagnostic.message),
        *source_place(diagnostic.location),
        severity=diagnostic.severity.name.lower(),
        notes=(*map(_note_on, _failing), *(plain_diagnostic(note) for note in diagnostic.notes)),
    )


def _note_on(op: Any) -> Diagnostic:
    """The end of MLIR's own errors at an op."""
    text = op.get_asm(
        print_generic_op_form=True,
        use_local_scope=True,
        skip_regions=True,
        assume_verified=True,
        large_elements_limit=16,
    )
    return diagnostic_at(op.location, f"see current operation: {text}", severity="note")


@contextmanager
def collect(context: Any, severities: frozenset[str] = frozenset({"error"})) -> Iterator[list[Diagnostic]]:
    """Catch the diagnostics of ``severities`` that are reported in ``context`` while the block runs.

    Others go on to whoever listens outside, and to stderr where nobody does.
    """
    caught: list[Diagnostic] = []

    def handle(diagnostic: Any) -> bool:
        plain = plain_diagnostic(diagnostic)
        if plain.severity in severities:
            caught.append(plain)
        return plain.severity in severities

    emitted_before = context.emit_error_diagnostics
    context.emit_error_diagnostics = True  # otherwise MLIR puts errors into the exception only
    handler = context.attach_diagnostic_handler(handle)
    try:
        yield caught
    finally:
        handler.detach()
        context.emit_error_diagnostics = emitted_before
