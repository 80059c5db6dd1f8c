"""Effects of ops besides their results: which memory they read and write, and what keeps them in their order.

Ops of upstream are rows of ``EFFECTS``; each of ours declares its ``effects`` in its class.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS
from ipu_mlir.dialects.support.bindings import ir

Touches = Callable[[Any], Iterable[tuple[ir.Value, bool]]]
"""Of an op, each buffer of which it reads elements (False) or writes elements (True); of what it updates, both."""


def operands(*, read: Sequence[int] = (), written: Sequence[int] = ()) -> Touches:
    """The memory of those operands is read, that of others written."""
    numbers = [*((number, False) for number in read), *((number, True) for number in written)]
    return lambda op: [(op.operation.operands[number], is_written) for number, is_written in numbers]


@dataclass(frozen=True)
class Effects:
    """The effects of an op.

    Attributes:
        touches: the memory that it reads and writes; what a view only shows is neither.
        host: whether the machine waits for others than its tiles, as where control flow learns a number.
        ordered: whether it stays where it is among all that is ordered, as an assertion does.
        random: whether it gives another result each time.
    """

    touches: Touches = lambda op: ()
    host: bool = False
    ordered: bool = False
    random: bool = False

    @property
    def is_free_to_move(self) -> bool:
        """True if only its operands and the memory that it touches hold it where it is."""
        return not (self.host or self.ordered or self.random)


NO_EFFECTS = Effects()

EFFECTS: dict[str, Effects] = {
    **dict.fromkeys((*VIEW_OPS, "memref.alloc", "memref.get_global", "arith.constant"), NO_EFFECTS),
    "memref.copy": Effects(operands(read=[0], written=[1])),
    "memref.load": Effects(operands(read=[0])),
    "memref.store": Effects(operands(written=[1])),
    "cf.assert": Effects(ordered=True),
}


def effects_of(op: ir.OpView | ir.Operation) -> Effects | None:
    """The effects of ``op``; None where nobody has said them, so that it may do anything."""
    found = EFFECTS.get(op.operation.name)
    return found if found is not None else getattr(op.operation.opview, "effects", None)
