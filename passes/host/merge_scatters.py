"""``ipu-merge-scatters``: the partial results of a scatter and their combination are one scatter again."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest, num_outputs
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.placement.partition.split_reduction import plain_combiner
from ipu_mlir.passes.support.combiners import KIND_OF_OP, neutral
from ipu_mlir.passes.support.linalg_builders import generic, identity_map
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies


class MergeScatters(Pass):
    """Undo how ``ipu-split-scatters`` cut a scatter: in one memory, all updates go to the result, one after the other.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), reductions whole (``ipu-merge-reductions``).
    Leaves: no scatter into blocks that are numbered by a loop, begin with nothing, and are only read where they are
            combined as the scatter combines; unless the updates are written to in between. No scatter of its own of the
            first updates, which were left over of equal parts.
    """

    name = "ipu-merge-scatters"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                ops = [op for op in list_outside_bodies(function) if op.name == "linalg.generic"]
                calls = [op for op in ops if _kind(op) is not None]
                writes = MemoryWrites(function) if calls else None
                for call in calls:
                    if writes is not None and (users := _fill_and_combination(call)) is not None:
                        _merge(call, *users, writes)


def _kind(op: ir.Operation) -> str | None:
    """How ``op`` combines elements, if it is a scatter that does."""
    name = ir.StringAttr(op.attributes["library_call"]).value if "library_call" in op.attributes else ""
    kind = name.removeprefix("scatter_")
    return kind if kind != name and kind in KIND_OF_OP.values() else None


def _fill_and_combination(call: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """What partial results of ``call`` begin with and what combines them, if that is all that happens to them."""
    partials = call.operands[len(call.operands) - 1]
    home = defining_op(partials, "memref.alloc")
    users = [] if home is None else [use.owner.operation for use in home.results[0].uses]
    fills = [user for user in users if user.name == "linalg.fill"]
    combinations = [user for user in users if user.name == "linalg.generic" and user != call]
    if len(users) != 3 or len(fills) != 1 or len(combinations) != 1:
        return None
    (fill,), (combination,) = fills, combinations
    if call.block != fill.block or call.block != combination.block or not _combines(combination, call, fill):
        return None
    in_order = fill.is_before_in_block(call) and call.is_before_in_block(combination)
    return (fill, combination) if in_order and _is_numbered(call) else None


def _combines(op: ir.Operation, call: ir.Operation, fill: ir.Operation) -> bool:
    """True if ``op`` combines the first dimension of its operand as ``call`` does, and ``fill`` has the neutral one."""
    nest, rank = loop_nest(op), call.operands[len(call.operands) - 1].type.rank - 1
    combiner = None if nest is None or nest.num_inputs != 1 or "library_call" in op.attributes else plain_combiner(op)
    if nest is None or combiner is None or KIND_OF_OP.get(combiner) != _kind(call):
        return False
    plain = [[index.plain_loop for index in indices] for indices in nest.indices]
    constant = defining_op(fill.operands[0], "arith.constant")
    element = op.operands[0].type.element_type
    is_neutral = constant is not None and constant.attributes["value"] == neutral(combiner, element)
    is_plain = plain == [[rank, *range(rank)], [*range(rank)]] and nest.parallel == (True,) * rank + (False,)
    return is_neutral and is_plain and op.operands[0] == call.operands[len(call.operands) - 1]


def _is_numbered(call: ir.Operation) -> bool:
    """True if the first dimension of the result goes along a loop, which is its index and its positions."""
    nest = loop_nest(call)
    if nest is None or len(nest.outputs) != 1 or nest.num_inputs != 2 * len(nest.outputs[0]) + 2:
        return False
    part, own = nest.outputs[0][0].plain_loop, len(nest.outputs[0]) + 2
    along = [d for d, index in enumerate(nest.indices[0]) if index.plain_loop == part]
    others = [index for d, index in enumerate(nest.indices[0]) if d not in along]
    if part is None or len(along) != 1 or any(not index.linear or any(index.coefficients) for index in others):
        return False
    updates = nest.indices[own - 1]
    is_one = [index.plain_loop for index in nest.indices[own]] == [part] and part in _loops(nest, own - 1)
    is_alone = all(part not in _loops(nest, number) for number in range(own + 1, nest.num_inputs))
    is_counted = _counts(call.operands[0], along[0]) and _counts(call.operands[own], 0)
    return is_one and is_alone and is_counted and len(updates) == len(nest.indices[0])


def _loops(nest: LoopNest, number: int) -> set[int | None]:
    return {index.plain_loop for index in nest.indices[number]}


def _counts(value: ir.Value, at: int) -> bool:
    """True if ``value`` has the place of each element along dimension ``at``, and nothing else is written to it."""
    home = defining_op(value, "memref.alloc")
    users = [] if home is None else [use.owner.operation for use in home.results[0].uses]
    if not users or any(user.name != "linalg.generic" for user in users):
        return False
    writers = [user for user in users if value in list(user.operands)[len(user.operands) - num_outputs(user) :]]
    maps = indexing_maps(writers[0]) if len(writers) == 1 else None
    if maps is None or maps != [identity_map(value.type.rank)]:
        return False
    found = terminator(writers[0].regions[0].blocks[0]).operands[0].owner
    is_index = not isinstance(found, ir.Block) and found.name == "linalg.index"
    return is_index and ir.IntegerAttr(found.attributes["dim"]).value == at


def _merge(call: ir.Operation, fill: ir.Operation, combination: ir.Operation, writes: MemoryWrites) -> None:
    nest, maps = loop_nest(call), indexing_maps(call)
    assert nest is not None and maps is not None, "asked before"
    *inputs, partials = call.operands
    gone = {0, len(nest.outputs[0]) + 2}
    kept = [number for number in range(nest.num_inputs) if number not in gone]
    if any(writes.between(inputs[number], call, combination) for number in kept):
        return
    part, out = nest.outputs[0][0].plain_loop, combination.operands[1]
    into = ir.AffineMap.get(maps[-1].n_dims, 0, list(maps[-1].results)[1:])
    parallel = [is_parallel and loop != part for loop, is_parallel in enumerate(nest.parallel)]
    attributes = {"library_call": call.attributes["library_call"]}
    with ir.InsertionPoint(combination), call.location:
        operands = [inputs[number] for number in kept]
        every = [*(maps[number] for number in kept), into]
        whole = generic(operands, [out], every, parallel, lambda arguments: arguments[-1:], attributes)
    writes.replace_writer(out, combination, [whole])
    writes.forget(partials)
    for op in (combination, call, fill, partials.owner.operation):
        op.erase()
    _join(whole, writes)


def _join(others: ir.Operation, writes: MemoryWrites) -> None:
    """Let one scatter do what the last one before ``others`` does, and then they, on what comes behind."""
    *inputs, out = others.operands
    block, call = others.block, others.attributes["library_call"]
    users = [around_in(use.owner.operation, block) for value in writes.names(out) for use in value.uses]
    before = [user for user in users if user is not None and user.is_before_in_block(others)]
    first = next((user for user in before if not any(user.is_before_in_block(each) for each in before)), None)
    if first is None or _kind(first) != _kind(others) or len(first.operands) != len(others.operands):
        return
    maps, nest, (*given, into) = indexing_maps(first), loop_nest(first), first.operands
    found = [one if one == other else _both(one, other) for one, other in zip(given, inputs, strict=True)]
    operands = [value for value in found if value is not None]
    if into != out or len(operands) != len(inputs) or maps is None or nest is None:
        return
    if any(writes.between(value, first, others) for value in operands):
        return
    with ir.InsertionPoint(others), others.location:
        every = generic(operands, [out], maps, nest.parallel, lambda arguments: arguments[-1:], {"library_call": call})
    writes.erase_writer(out, first)
    writes.replace_writer(out, others, [every])
    for op in (first, others):
        op.erase()


def _both(first: ir.Value, others: ir.Value) -> ir.Value | None:
    """The buffer of which ``first`` is the beginning and ``others``, in blocks, what is behind it; None for others."""
    blocks = defining_op(others, "memref.expand_shape")
    views = [
        defining_op(value, "memref.subview") for value in (first, others if blocks is None else blocks.operands[0])
    ]
    sources = [None if view is None or len(view.operands) != 1 else view.operands[0] for view in views]
    if sources[0] is None or sources[0] != sources[1]:
        return None
    (start, size, step), (offset, rest, other) = (
        [list(view.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")] for view in views if view
    )
    shape = list(sources[0].type.shape)
    cut = [d for d, extent in enumerate(shape) if size[d] != extent]
    is_whole = len(cut) == 1 and not any(start) and {*step, *other} == {1}
    at = cut[0] if cut else 0
    is_behind = offset == [size[at] if d == at else 0 for d in range(len(shape))]
    covers = rest == [extent - size[at] if d == at else extent for d, extent in enumerate(shape)]
    return sources[0] if is_whole and is_behind and covers else None
