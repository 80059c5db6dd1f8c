"""When a value of a block is used for the last time."""

from collections.abc import Iterator

from ipu_mlir.dialects.bindings import ir


def values_dying_after(block: ir.Block) -> list[list[ir.Value]]:
    """Per operation of ``block``, the values of the block that nothing uses after it.

    Block arguments live as long as the block, and are in none of the lists.
    """
    last_use: dict[ir.Value, int] = {}
    operations = list(block.operations)
    for number, op in enumerate(operations):
        last_use.update(dict.fromkeys(op.operation.results, number))
        last_use.update({value: number for value in _used_by(op) if value in last_use})
    dying: list[list[ir.Value]] = [[] for _ in operations]
    for value, number in last_use.items():
        dying[number].append(value)
    return dying


def _used_by(op: ir.OpView) -> Iterator[ir.Value]:
    yield from op.operation.operands
    for region in op.operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _used_by(inner)
