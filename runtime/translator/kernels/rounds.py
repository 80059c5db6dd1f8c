"""How much there is to do: the points of statements, the iterations of loops."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.runtime.translator.kernels.code import LANES
from ipu_mlir.runtime.translator.kernels.control import CODELETS
from ipu_mlir.runtime.translator.statements.control import Branch, Control, ForLoop, known_rounds
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, SliceUpdate, Statement

WORK_WITHOUT_ASKING = 1 << 20  # statements or vectors: a few milliseconds
_MOST_ROUNDS = 1 << 14  # without asking, however short they are


def asked_every(work: int) -> int:
    """The iterations, a power of two, of ``work`` vectors each that a loop has before it asks whether to go on.

    >>> [asked_every(work) for work in (3, 1000, 10_000_000)]
    [16384, 1024, 1]
    """
    return 1 << (min(_MOST_ROUNDS, max(1, WORK_WITHOUT_ASKING // work))).bit_length() - 1


def points(statement: Statement) -> int:
    """The number of points of ``statement``; of a slice that is written in place, those of the slice."""
    if isinstance(statement, LibraryCall) and statement.codelet in CODELETS:
        return CODELETS[statement.codelet].points(statement)
    if isinstance(statement, SliceUpdate) and statement.old == statement.out:
        return prod(statement.box())
    return prod(statement.extents)


def rounds_in(statements: Sequence[Statement], vectors: bool = False) -> int | None:
    """The number of statements that run in all, or of the vectors of their points; None if no loop bound says it."""
    total = 0
    for statement in statements:
        if not isinstance(statement, Control):
            total += -(-points(statement) // LANES) if vectors else 1
            continue
        inside = [rounds_in(block, vectors) for block in statement.blocks()]
        times = rounds_of(statement)
        if times is None or any(each is None for each in inside):
            return None
        total += times * sum(each or 0 for each in inside)
    return total


def rounds_of(statement: Control) -> int | None:
    """The number of iterations of the loop ``statement``, 1 for a branch; None if only a run tells."""
    if not isinstance(statement, ForLoop):
        return 1 if isinstance(statement, Branch) else None
    if not all(isinstance(bound, int) for bound in (statement.lower, statement.upper, statement.step)):
        return None
    known = known_rounds(statement.lower, statement.upper, statement.step)
    return 0 if known is None else (known[1] - known[0]) // int(statement.step) + 1  # type: ignore[arg-type]
