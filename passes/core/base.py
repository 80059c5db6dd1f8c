"""The base of passes, and the way in which one refuses a program.

A pass is a class with a ``name``; the first line of its docstring is what ``ipu-opt --list-passes`` prints. One with
options is a frozen dataclass, and its fields are the options (``passes/core/options.py``).
"""

from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, diagnostic_at

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir


class PassFailed(DiagnosedError):
    """A pass refuses the program; everything there is to say was reported at the ops."""


@dataclass(frozen=True)
class Pass:
    """A step that changes a module, or refuses it.

    A pass that finds the program wrong reports each error at its op and then fails once::

        with Refusals() as refuse:
            for op in ...:
                if ...:
                    refuse(op, "has 3 loops, but its parts cut 2; give one entry per loop")

    An error that is emitted in another way (``dialects.diagnostics.fail``, ``verify``) fails the pass as well.
    """

    name: ClassVar[str]
    keeps_analyses: ClassVar[bool] = False
    """True if what was found out about a module (``remembered.analysis``) is still so after the pass."""

    def run(self, module: "ir.Operation") -> None:
        """Change ``module``, or another op that the pipeline names, in place."""
        raise NotImplementedError(f"{type(self).__name__} has no run()")

    @classmethod
    def description(cls) -> str:
        """The first line of the docstring."""
        return (cls.__doc__ or "").strip().partition("\n")[0]


class Refusals:
    """Errors of the user that one run of a pass found; leaving the ``with`` block fails the pass if there are any."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []

    def __call__(self, op: Any, message: str) -> None:
        """Report ``message`` at ``op``, with the op's name before it as MLIR's verifiers do."""
        self.at(op.location, f"'{op.operation.name}' op {message}")

    def at(self, location: Any, message: str) -> None:
        """Report ``message`` at ``location``, as it is."""
        location.emit_error(message)
        self.diagnostics.append(diagnostic_at(location, message))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self.diagnostics:
            raise PassFailed(self.diagnostics)
