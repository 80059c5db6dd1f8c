"""``ipu-merge-top-k``: the largest elements of rows, found in parts of them, are found in whole rows again."""

from itertools import pairwise

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op, integer_of, loop_of, terminator
from ipu_mlir.dialects.codelets.top_k import TOP_K
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.support.linalg_builders import identity_map
from ipu_mlir.passes.support.rewriting import list_ops

_RESHAPES = ("memref.collapse_shape", "memref.expand_shape")


class MergeTopK(Pass):
    """Undo how ``ipu-split-top-k`` cut rows: the longer a row, the fewer of its elements are larger than those before.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``).
    Leaves: no call of ``top_k`` on what another one found in parts of rows, unless something else reads or writes that.
    """

    name = "ipu-merge-top-k"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                done = 0
                while len(calls := [op for op in list_ops(function, "linalg.generic") if _is_top_k(op)]) > done + 1:
                    done += not _merge(calls[-1 - done], MemoryWrites(function))


def _is_top_k(op: ir.Operation) -> bool:
    return "library_call" in op.attributes and ir.StringAttr(op.attributes["library_call"]).value == TOP_K.name


def _merge(last: ir.Operation, writes: MemoryWrites) -> bool:
    """Let ``last`` look at the whole rows of whose parts it gets the largest; False if they cannot be one call."""
    best = last.operands[0]
    while (view := defining_op(best, *_RESHAPES)) is not None:
        best = view.operands[0]
    among, readers = last.operands[1], _users(last.operands[1], last.block)
    gathers = [op for op in _users(best, last.block) if len(op.operands) == 3 and op.operands[1] == best]
    lookups = readers[readers.index(last) + 1 :][:1] if last in readers else []
    firsts = [op for op in _users(gathers[0].operands[0], last.block) if _is_top_k(op)] if gathers else []
    if not gathers or not lookups or not firsts or lookups[0].operands[0] != among:
        return False
    first, gather, lookup = firsts[0], gathers[0], lookups[0]
    inside, _, places = gather.operands
    roles = ((inside, (first, gather)), (best, (gather, last)), (places, (gather, lookup)))
    for memory in (inside, best, places):
        known = [op for other, ops in roles if other == memory for op in ops]
        users = _users(memory, last.block)
        if not users or any(op not in known for op in users):
            return False
    in_order = all(one.is_before_in_block(other) for one, other in pairwise((first, gather, last, lookup)))
    result = lookup.operands[1]
    keys, (*stack, parts, kept), count = first.operands[0], inside.type.shape, among.type.shape[-1]
    is_alone = in_order and first.operands[1] == inside and (result == among or len(readers) == 2)
    is_whole = list(last.operands[0].type.shape) == [*stack, parts * kept] and kept >= count
    if not is_alone or not is_whole or not _is_lookup(lookup) or not _is_gather(gather, keys):
        return False
    if writes.between(keys, first, lookup):
        return False
    with ir.InsertionPoint(lookup), lookup.location:
        rows = _as_rows(keys)
    last.move_before(lookup)
    last.operands[0], last.operands[1] = rows, result
    for op in (lookup, gather):
        op.erase()
    first.erase()
    for value in {inside, best, places, *([] if result == among else [among])}:
        _erase_views(value)
    return True


def _users(memory: ir.Value, block: ir.Block) -> list[ir.Operation]:
    """The ops of ``block`` that use ``memory``, or in which ops do, in order; [] of no allocation, or if others do."""
    found: list[ir.Operation] = []
    waiting = [memory] if defining_op(memory, "memref.alloc") else []
    while waiting:
        for use in waiting.pop().uses:
            op = use.owner.operation
            if op.name in VIEW_OPS:
                waiting.append(op.results[0])
            elif (around := around_in(op, block)) is None:
                return []
            elif around not in found:
                found.append(around)
    for n in range(1, len(found)):
        at = next((m for m in range(n) if found[n].is_before_in_block(found[m])), n)
        found.insert(at, found.pop(n))
    return found


def _loaded(op: ir.Operation, number: int, rank: int) -> ir.Value | None:
    """What result ``number`` of ``op`` is an element of: in its last dimension at the number that ``op`` reads, in the
    others at those of the loops."""
    if indexing_maps(op) != [identity_map(op.operands[0].type.rank)] * len(op.operands):
        return None
    body = op.regions[0].blocks[0]
    load = defining_op(terminator(body).operands[number], "memref.load")
    *at, last = [] if load is None else list(load.operands)[1:]
    cast = defining_op(last, "arith.index_cast")
    if load is None or cast is None or cast.operands[0] != body.arguments[0] or len(at) != rank:
        return None
    extents = list(load.operands[0].type.shape)
    are_loops = all(loop_of(each) == n or (extents[n] == 1 and integer_of(each) == 0) for n, each in enumerate(at))
    return load.operands[0] if are_loops else None


def _is_lookup(op: ir.Operation) -> bool:
    return _loaded(op, 0, op.operands[1].type.rank - 1) is not None


def _is_gather(op: ir.Operation, keys: ir.Value) -> bool:
    """True if ``op`` gives elements of ``keys``, and their places in whole rows."""
    rank, width = keys.type.rank - 1, keys.type.shape[-1]
    if _loaded(op, 0, rank) != keys:
        return False
    body = op.regions[0].blocks[0]
    number = defining_op(terminator(body).operands[1], "arith.index_cast")
    total = number and defining_op(number.operands[0], "arith.addi")
    if total is None:
        return False
    begin, inside = total.operands
    product, place = defining_op(begin, "arith.muli"), defining_op(inside, "arith.index_cast")
    if product is None or place is None or place.operands[0] != body.arguments[0]:
        return False
    return loop_of(product.operands[0]) == rank - 1 and integer_of(product.operands[1]) == width


def _as_rows(keys: ir.Value) -> ir.Value:
    """``keys`` with its last two dimensions as one."""
    memref, (*stack, parts, width) = upstream("memref"), keys.type.shape
    shape, source = [*stack, parts * width], defining_op(keys, "memref.expand_shape")
    if source is not None and list(source.operands[0].type.shape) == shape:
        return source.operands[0]
    kind, rank = ir.MemRefType.get(shape, keys.type.element_type), len(stack)
    return memref.CollapseShapeOp(kind, keys, [*([n] for n in range(rank)), [rank, rank + 1]]).result


def _erase_views(memory: ir.Value) -> None:
    """Erase what nothing uses: views, and the allocation."""
    for use in list(memory.uses):
        _erase_views(use.owner.results[0])
    memory.owner.operation.erase()
