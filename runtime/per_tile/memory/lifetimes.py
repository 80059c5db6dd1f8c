"""The last uses of the values of a block."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class Lifetimes:
    """The ends of the values of a block.

    Attributes:
        unused: arguments of the block that nothing in it uses.
        moved: per operation, those of its operands that nothing uses after it, and nothing in its regions by name:
            an operation of control flow hands them on, and from then on they are there only under their new names.
        dying: per operation, the other values of the block that nothing uses after it.
    """

    unused: list[ir.Value]
    moved: list[list[ir.Value]]
    dying: list[list[ir.Value]]


def lifetimes_of(block: ir.Block) -> Lifetimes:
    """The ends of the arguments of ``block`` and of the results of its operations."""
    last_use: dict[ir.Value, int] = dict.fromkeys(block.arguments, -1)
    operations = [op.operation for op in block.operations]
    for number, op in enumerate(operations):
        last_use.update(dict.fromkeys(op.results, number))
        last_use.update({value: number for value in (*op.operands, *_used_inside(op)) if value in last_use})
    found = Lifetimes([], [[] for _ in operations], [[] for _ in operations])
    inside = [set(_used_inside(op)) for op in operations]
    for value, number in last_use.items():
        if number < 0:
            found.unused.append(value)
        elif value in list(operations[number].operands) and value not in inside[number]:
            found.moved[number].append(value)
        else:
            found.dying[number].append(value)
    return found


def _used_inside(op: ir.Operation) -> Iterator[ir.Value]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from inner.operation.operands
                yield from _used_inside(inner.operation)
