"""``ipu-drop-repeated-checks``: an assertion that was made before is not made again."""

from collections.abc import Hashable, Sequence

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, is_structured, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass

_PURE = ("arith.", "math.", "tensor.extract")


class DropRepeatedChecks(Pass):
    """Drop assertions that an earlier op has made of the same elements.

    Frameworks repeat them at every use of a value: that no variance is zero, that an index is less than a size. What
    only they need is dead then, and each would run on every tile.

    Needs:  linalg on tensors; ``cse``.
    Leaves: no ``cf.assert`` whose condition an op before it, in its block or around it, has asserted of the same
            operands, element by element.
    """

    name = "ipu-drop-repeated-checks"

    def run(self, module: ir.Operation) -> None:
        for block in module.regions[0].blocks:
            _visit(block, set())


def _visit(block: ir.Block, asserted: set[Hashable]) -> None:
    """Drop the assertions of ``block`` that hold by ``asserted``, to which those of the block itself come."""
    for op in [each.operation for each in block.operations]:
        if op.name == "cf.assert":
            _drop_or_note([op], [(op.operands[0],)], asserted)
        elif is_structured(op):
            body = [each.operation for each in op.regions[0].blocks[0].operations] if len(op.regions) else []
            checks = [each for each in body if each.name == "cf.assert"]
            nest = loop_nest(op) if checks else None
            if nest is not None and 0 not in nest.extents:
                _drop_or_note(checks, [_condition(each, op, nest) for each in checks], asserted)
        else:
            for region in op.regions:
                for inner in region.blocks:
                    _visit(inner, set(asserted))


def _drop_or_note(checks: Sequence[ir.Operation], conditions: Sequence[Hashable], asserted: set[Hashable]) -> None:
    for check, condition in zip(checks, conditions, strict=True):
        if condition is None:
            continue
        if condition in asserted:
            check.erase()
        asserted.add(condition)


def _condition(check: ir.Operation, op: ir.Operation, nest: LoopNest) -> Hashable:
    """The condition of ``check`` in the body of ``op``, equal for all that assert the same; None if it is not known.

    Loops are numbered as they are met, so that what is asserted of a whole tensor does not depend on the loops over it.
    """
    body = op.regions[0].blocks[0]
    loops: dict[int, int] = {}
    places: dict[ir.Value, int] = {}
    nodes: list[Hashable] = []

    def loop(number: int) -> tuple[int, int]:
        return loops.setdefault(number, len(loops)), nest.extents[number]

    waiting: list[ir.Value] = [check.operands[0]]
    while waiting:
        value = waiting[-1]
        maker = defining_op(value)
        inner = maker if maker is not None and maker.block == body else None
        operands = [] if inner is None or value in places else inner.operands
        after = [each for each in operands if each not in places]
        waiting += reversed(after)
        if after:
            continue
        waiting.pop()
        if value in places:
            continue
        places[value] = len(nodes)
        if value.owner == body:
            number = ir.BlockArgument(value).arg_number
            plain = [index.plain_loop for index in nest.indices[number]]
            if number >= nest.num_inputs or None in plain:
                return None
            nodes.append((op.operands[number], *(loop(each) for each in plain if each is not None)))
        elif inner is None:
            nodes.append(value)
        elif inner.name == "linalg.index":
            nodes.append(loop(ir.IntegerAttr(inner.attributes["dim"]).value))
        elif inner.name.startswith(_PURE) and not len(inner.regions):
            attributes = tuple((name, inner.attributes[name]) for name in inner.attributes)
            operands = tuple(places[each] for each in inner.operands)
            nodes.append((inner.name, value.type, ir.OpResult(value).result_number, attributes, operands))
        else:
            return None
    return tuple(nodes)
