"""``ipu-merge-sorts``: the steps of a sort over tiles are one sort again."""

from math import prod

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.codelets.sort_tuples import RANK_OF_TUPLES, SORT_TUPLES
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.raising.ranks.sort_plan import Shape, SortPlan
from ipu_mlir.passes.support.rewriting import list_ops

_RESHAPES = ("memref.collapse_shape", "memref.expand_shape")


class MergeSorts(Pass):
    """Undo how ``ipu-spread-sorts`` cut a sort into steps: all tuples are one row.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``).
    Leaves: no two steps of one sort, unless something else reads what is between them, or writes to what is sorted.
    """

    name = "ipu-merge-sorts"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                steps = [op for op in list_ops(function, "linalg.generic") if _is_step(op)]
                writes = MemoryWrites(function) if len(steps) > 1 else None
                while writes is not None and steps:
                    chain = _chain(steps[-1])
                    steps = [step for step in steps if step not in chain]
                    if _can_merge(chain, writes):
                        _merge(chain)


def _is_step(op: ir.Operation) -> bool:
    is_call = "library_call" in op.attributes
    return is_call and ir.StringAttr(op.attributes["library_call"]).value == SORT_TUPLES.name


def _inputs(step: ir.Operation) -> list[ir.Value]:
    return list(step.operands)[: len(step.operands) // 2]


def _outputs(step: ir.Operation) -> list[ir.Value]:
    return list(step.operands)[len(step.operands) // 2 :]


def _shape(step: ir.Operation) -> Shape:
    blocks, ways, pairs, height, beside, width = step.operands[0].type.shape
    return blocks, ways, pairs, height, beside, width


def _chain(last: ir.Operation) -> list[ir.Operation]:
    """``last`` behind the steps whose results are only the operands of the next one."""
    chain = [last]
    while (before := _step_before(chain[0])) is not None:
        chain.insert(0, before)
    return chain


def _step_before(step: ir.Operation) -> ir.Operation | None:
    found = None
    for number, value in enumerate(_inputs(step)):
        while (view := defining_op(value, *_RESHAPES)) is not None:
            if sum(1 for _ in value.uses) > 1:
                return None
            value = view.operands[0]
        home = defining_op(value, "memref.alloc")
        users = [] if home is None else [use.owner.operation for use in value.uses]
        makers = [user for user in users if _is_step(user) and user.block == step.block]
        if len(users) != 2 or len(makers) != 1 or _outputs(makers[0])[number : number + 1] != [value]:
            return None
        if found is not None and found != makers[0]:
            return None
        found = makers[0]
    return found


def _can_merge(chain: list[ir.Operation], writes: MemoryWrites) -> bool:
    first, last = chain[0], chain[-1]
    is_kept = not any(writes.between(value, first, last) for value in _inputs(first))
    return is_kept and _is_sort([_shape(step) for step in chain])


def _is_sort(shapes: list[Shape]) -> bool:
    """True of the steps of a plan, from the first to the last.

    >>> _is_sort(list(SortPlan(rows=4, parts=2, width=3, cycles=0).steps()))
    True
    >>> _is_sort([(8, 1, 1, 1, 1, 3), (4, 1, 1, 2, 1, 3)])
    False
    """
    width, row = shapes[0][-1], shapes[-1][-1]
    if len(shapes) == 1 or row % width:
        return False
    elements = prod(shapes[0])
    whole = [SortPlan(elements // row, row // width, width, 0), SortPlan(1, elements // width, width, 0)]
    return any(shapes == list(plan.steps()) for plan in whole)


def _merge(chain: list[ir.Operation]) -> None:
    *others, last = chain
    left = [home for step in others for home in _outputs(step)]
    with ir.InsertionPoint(last), last.location:
        operands = [_as_one_row(value) for value in (*_inputs(others[0]), *_outputs(last))]
    views = [value.owner.operation for value in _inputs(last)]
    for number, value in enumerate(operands):
        last.operands[number] = value
    for view in views:
        _erase_with_sources(view)
    for step in reversed(others):
        views = [value.owner.operation for value in _inputs(step) if step != others[0]]
        step.erase()
        for view in views:
            _erase_with_sources(view)
    for home in left:
        home.owner.operation.erase()


def _erase_with_sources(view: ir.Operation) -> None:
    """Erase reshapes, up to the allocation."""
    while view.name in _RESHAPES:
        source = view.operands[0].owner
        view.erase()
        view = source.operation


def _as_one_row(value: ir.Value) -> ir.Value:
    memref, shape, element = upstream("memref"), list(value.type.shape), value.type.element_type
    dimensions = [list(range(RANK_OF_TUPLES))]
    flat = memref.CollapseShapeOp(ir.MemRefType.get([prod(shape)], element), value, dimensions).result
    row = [*([1] * (RANK_OF_TUPLES - 1)), prod(shape)]
    return memref.ExpandShapeOp(ir.MemRefType.get(row, element), flat, dimensions, [], row).result
