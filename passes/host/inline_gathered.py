"""``ipu-inline-gathered``: of what only a gather reads, the elements that it picks are computed."""

from math import prod

from ipu_mlir.dialects.analysis.loop_nest import loads_in, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, is_used
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies


class InlineGathered(Pass):
    """Compute an element where it is picked, if fewer of them are picked than there are.

    ``ipu-spread-gathers`` lets every block of a table find a row for every index, since the blocks are on different
    tiles; in one memory, the row of the block that has it is enough.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), copies forwarded (``ipu-forward-copies``).
    Leaves: no element-wise op that one gather of fewer elements reads alone, unless its operands change in between.
    """

    name = "ipu-inline-gathered"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                ops = [op for op in list_outside_bodies(function) if op.name == "linalg.generic"]
                gathers = [op for op in ops if "library_call" not in op.attributes and loads_in(op)]
                writes = MemoryWrites(function) if gathers else None
                while writes is not None and gathers:
                    op = gathers.pop()
                    while (producer := _inline_one(op, writes)) is not None:
                        gathers = [each for each in gathers if each != producer]
                        home = producer.operands[len(producer.operands) - 1]
                        producer.erase()
                        home.owner.operation.erase()


def _inline_one(op: ir.Operation, writes: MemoryWrites) -> ir.Operation | None:
    """Compute one load of ``op`` in its place; gives what made its table, which nothing reads now; None for no load."""
    for load in loads_in(op):
        producer = _producer(op, load)
        if producer is None or any(writes.between(value, producer, op) for value in _read_by(producer)):
            continue
        with ir.InsertionPoint(load), load.location:
            load.results[0].replace_all_uses_with(_computed(producer, list(load.operands)[1:]))
        home = load.operands[0]
        load.erase()
        writes.erase_writer(home, producer)
        writes.forget(home)
        return producer
    return None


def _producer(op: ir.Operation, load: ir.Operation) -> ir.Operation | None:
    """The element-wise op that makes more elements than ``op`` has iterations, all of them for ``load``."""
    home = defining_op(load.operands[0], "memref.alloc")
    users = [] if home is None else [use.owner.operation for use in home.results[0].uses]
    others = [user for user in users if user != load]
    if len(users) != 2 or len(others) != 1 or others[0].name != "linalg.generic" or others[0].block != op.block:
        return None
    (producer,) = others
    nest, own = loop_nest(producer), loop_nest(op)
    if nest is None or own is None or "library_call" in producer.attributes or not producer.is_before_in_block(op):
        return None
    out = len(producer.operands) - 1
    is_whole = nest.num_inputs == out and producer.operands[out] == load.operands[0] and all(nest.parallel)
    if not is_whole or is_used(producer.regions[0].blocks[0].arguments[out]):
        return None
    plain = [[index.plain_loop for index in indices] for indices in nest.indices]
    is_plain = plain[out] == [*range(len(nest.extents))] and not any(None in each for each in plain)
    return producer if is_plain and prod(own.extents) < prod(nest.extents) else None


def _read_by(producer: ir.Operation) -> list[ir.Value]:
    """The buffers that ``producer`` reads."""
    return [*filter(_is_buffer, list(producer.operands)[:-1]), *(load.operands[0] for load in loads_in(producer))]


def _computed(producer: ir.Operation, at: list[ir.Value]) -> ir.Value:
    """The element that ``producer`` makes for the indices ``at``, at the current insertion point."""
    block, nest = producer.regions[0].blocks[0], loop_nest(producer)
    assert nest is not None, "asked before"
    known: Known = {}
    for argument, value, indices in zip(block.arguments, producer.operands, nest.indices[:-1], strict=False):
        places = [at[index.plain_loop] for index in indices if index.plain_loop is not None]
        known[argument] = upstream("memref").LoadOp(value, places).result if _is_buffer(value) else value
    *body, end = (each.operation for each in block.operations)
    for inner in body:
        if inner.name == "linalg.index":
            known[inner.results[0]] = at[ir.IntegerAttr(inner.attributes["dim"]).value]
        else:
            clone_into(inner, known)
    return known.get(end.operands[0], end.operands[0])


def _is_buffer(value: ir.Value) -> bool:
    return isinstance(value.type, ir.MemRefType)
