"""Marks that a partition leaves on the ops that it makes of one reduction, so that a later pass can put them together.

A mark says what was done, and ``ipu-merge-reductions`` asks the op whether that is true: loops and blocks are numbers
of the op that carries the mark.
"""

from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir

PARTIALS = "ipu.partials"
"""Of an op that leaves partial results: ``array<i64: loop, block, ...>`` for each leading dimension of its result."""

COMBINES = "ipu.combines"
"""The same on the op that combines those partial results over their leading dimensions."""

STEP = "ipu.step"
"""Of an op that runs some iterations of a reduced loop: ``array<i64: loop, start>``, the loop and the first of them."""


@dataclass(frozen=True)
class Block:
    """A loop, and of how many of its iterations there is one partial result."""

    loop: int
    size: int


def blocks_mark(blocks: list[Block]) -> ir.Attribute:
    """The value of ``PARTIALS`` and ``COMBINES``."""
    return ir.DenseI64ArrayAttr.get([number for block in blocks for number in (block.loop, block.size)])


def marked_blocks(op: ir.Operation, mark: str) -> list[Block] | None:
    """The pairs of ``PARTIALS`` or ``COMBINES`` of ``op``; None where it is no list of pairs."""
    numbers = _numbers(op, mark)
    if not numbers or len(numbers) % 2:
        return None
    return [Block(loop, size) for loop, size in zip(numbers[::2], numbers[1::2], strict=True)]


def step_mark(loop: int, start: int) -> ir.Attribute:
    """The value of ``STEP``."""
    return ir.DenseI64ArrayAttr.get([loop, start])


def marked_step(op: ir.Operation) -> tuple[int, int] | None:
    """The loop and the start that ``STEP`` says of ``op``; None where it is no pair."""
    match _numbers(op, STEP):
        case [loop, start]:
            return loop, start
    return None


def marks_of(op: ir.Operation, *but: str) -> dict[str, ir.Attribute]:
    """The marks on ``op``, without those called ``but``."""
    return {
        mark: op.attributes[mark] for mark in (PARTIALS, COMBINES, STEP) if mark in op.attributes and mark not in but
    }


def _numbers(op: ir.Operation, mark: str) -> list[int] | None:
    attribute = op.attributes[mark]
    return list(attribute) if isinstance(attribute, ir.DenseI64ArrayAttr) else None
