"""``ipu-skip-gaps``: windows over a tensor with zeros between its elements read the elements only."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import static_layout
from ipu_mlir.passes.support.gaps import fills_with_zero, is_sum_of_products, static_numbers
from ipu_mlir.passes.support.rewriting import list_ops


class SkipGaps(Pass):
    """Split a transposed convolution into ordinary ones, of which none multiplies by a gap.

    The gradient of a strided convolution, and a transposed one, go over a tensor whose elements stand ``s`` apart in
    zeros: of ``s`` products of such a window one is no zero. Results whose number has one remainder by ``s`` have the
    same elements of a window, so that each remainder is a convolution of what stands side by side, with every ``s``-th
    weight, and writes every ``s``-th result. A gap times a weight that is no finite number is left out, too.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), copies forwarded (``ipu-forward-copies``).
    Leaves: no sum of products over windows of a buffer of zeros into which nothing but elements apart was written.
    """

    name = "ipu-skip-gaps"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                spread = _spread_operand(op)
                if spread is not None:
                    _split(op, spread)


@dataclass(frozen=True)
class Gap:
    """A dimension whose elements stand ``stride`` apart, the first one at ``offset``; it is indexed by a sum of a loop
    over ``results`` and one over ``terms``."""

    dimension: int
    stride: int
    offset: int
    results: int
    terms: int


@dataclass(frozen=True)
class Phase:
    """The results ``result``, ``result + stride``, ...: which weight is the first one, and which element it meets."""

    result: int
    term: int
    element: int


def phases(stride: int, offset: int) -> list[Phase]:
    """One for each remainder; elements are counted from the first of ``offset`` modulo ``stride`` on.

    >>> phases(stride=2, offset=1)
    [Phase(result=0, term=1, element=0), Phase(result=1, term=0, element=0)]
    >>> phases(stride=3, offset=5)[1]
    Phase(result=1, term=1, element=0)
    """
    terms = [(result, (offset - result) % stride) for result in range(stride)]
    return [Phase(result, term, (result + term - offset % stride) // stride) for result, term in terms]


@dataclass(frozen=True)
class _Spread:
    """Operand ``number`` of an op is ``home``, filled by ``fill``, with elements that ``writer`` puts into ``view``."""

    number: int
    fill: ir.Operation
    view: ir.Operation
    writer: ir.Operation
    gaps: tuple[Gap, ...]
    nest: LoopNest


def _spread_operand(op: ir.Operation) -> _Spread | None:
    """The operand of ``op`` that has gaps, if that can be split."""
    nest = loop_nest(op) if "library_call" not in op.attributes and len(op.operands) == 3 else None
    if nest is None or nest.num_inputs != 2 or not is_sum_of_products(op):
        return None
    for number, other in ((0, 1), (1, 0)):
        home = defining_op(op.operands[number], "memref.alloc")
        users = [] if home is None else [use.owner.operation for use in home.results[0].uses]
        by_name = {user.name: user for user in users}
        if len(users) != 3 or set(by_name) != {"linalg.fill", "memref.subview", op.name}:
            continue
        fill, view = by_name["linalg.fill"], by_name["memref.subview"]
        writers = [use.owner.operation for use in view.results[0].uses]
        if len(writers) != 1 or not _are_in_order(fill, writers[0], op) or not fills_with_zero(fill):
            continue
        gaps = _gaps(nest, number, other, view)
        if gaps and all(map(static_layout, (each.type for each in op.operands))):
            return _Spread(number, fill, view, writers[0], gaps, nest)
    return None


def _are_in_order(*ops: ir.Operation) -> bool:
    return all(a.block == b.block and a.is_before_in_block(b) for a, b in pairwise(ops))


def _gaps(nest: LoopNest, number: int, other: int, view: ir.Operation) -> tuple[Gap, ...]:
    """The dimensions of operand ``number`` that can be split: those with gaps; none if that is not all of them."""
    if len(view.operands) > 1 or view.results[0].type.rank != view.operands[0].type.rank:
        return ()
    strides, offsets = static_numbers(view, "strides"), static_numbers(view, "offsets")
    found = []
    for dimension, (stride, offset) in enumerate(zip(strides, offsets, strict=True)):
        if stride == 1:
            continue
        loops = _two_loops(nest.indices[number][dimension])
        if loops is None or nest.parallel[loops[0]] == nest.parallel[loops[1]]:
            return ()
        results, terms = loops if nest.parallel[loops[0]] else loops[::-1]
        elsewhere = [index for place, index in enumerate(nest.indices[number]) if place != dimension]
        is_split = _is_plain(terms, nest.indices[other]) and _is_plain(results, nest.outputs[0])
        if not is_split or _uses(results, (*elsewhere, *nest.indices[other])) or _uses(terms, elsewhere):
            return ()
        found.append(Gap(dimension, stride, offset, results, terms))
    return tuple(found)


def _two_loops(index: Index) -> tuple[int, int] | None:
    loops = [loop for loop, factor in enumerate(index.coefficients) if factor]
    is_sum = index.linear and index.constant == 0 and sorted(index.coefficients)[-2:] == [1, 1]
    return (loops[0], loops[1]) if is_sum and len(loops) == 2 else None


def _uses(loop: int, indices: Sequence[Index]) -> bool:
    return any(not index.linear or index.coefficients[loop] for index in indices)


def _is_plain(loop: int, indices: Sequence[Index]) -> bool:
    """True if ``loop`` is one index by itself, and no part of others."""
    return sum(index.plain_loop == loop for index in indices) == 1 == sum(_uses(loop, (index,)) for index in indices)


def _split(op: ir.Operation, spread: _Spread) -> None:
    home = spread.fill.operands[1].owner.operation
    compact = _without_gaps(spread, home)
    with ir.InsertionPoint(op), op.location:
        for operands in _parts(op, spread, compact):
            part = op.clone()
            for number, value in enumerate(operands):
                part.operands[number] = value
    op.erase()
    for each in (spread.view, spread.fill, home):
        each.erase()


def _without_gaps(spread: _Spread, home: ir.Operation) -> ir.Value:
    """A buffer of zeros where the same elements are written side by side."""
    memref, kind = upstream("memref"), home.results[0].type
    shape = list(kind.shape)
    offsets, sizes, strides = (static_numbers(spread.view, name) for name in ("offsets", "sizes", "strides"))
    for gap in spread.gaps:
        shape[gap.dimension] = -(-(shape[gap.dimension] - gap.offset % gap.stride) // gap.stride)
        offsets[gap.dimension], strides[gap.dimension] = gap.offset // gap.stride, 1
    with ir.InsertionPoint(home), home.location:
        compact = memref.AllocOp(ir.MemRefType.get(shape, kind.element_type), [], []).result
    with ir.InsertionPoint(spread.fill), spread.fill.location:
        fill = spread.fill.clone()
        fill.operands[1] = compact
    with ir.InsertionPoint(spread.view), spread.view.location:
        view = _subview(compact, offsets, sizes, strides)
    if spread.view.is_before_in_block(spread.fill):
        fill.move_before(view.owner.operation)
    spread.view.results[0].replace_all_uses_with(view)
    return compact


def _parts(op: ir.Operation, spread: _Spread, compact: ir.Value) -> Iterator[list[ir.Value]]:
    """The operands of each convolution: one for each remainder in every dimension with gaps."""
    nest = spread.nest
    for chosen in product(*(phases(gap.stride, gap.offset) for gap in spread.gaps)):
        steps: dict[int, tuple[int, int, int]] = {}  # by loop: the first iteration, how many, how far apart
        for gap, phase in zip(spread.gaps, chosen, strict=True):
            for loop, first in ((gap.results, phase.result), (gap.terms, phase.term)):
                steps[loop] = first, len(range(first, nest.extents[loop], gap.stride)), gap.stride
        if any(count == 0 for _, count, _ in steps.values()):
            continue
        operands = []
        for number, value in enumerate(op.operands):
            source = compact if number == spread.number else value
            cuts = [(0, size, 1) for size in source.type.shape]
            for dimension, index in enumerate(nest.indices[number]):
                if index.plain_loop in steps:
                    cuts[dimension] = steps[index.plain_loop]
            if number == spread.number:
                for gap, phase in zip(spread.gaps, chosen, strict=True):
                    size = steps[gap.results][1] + steps[gap.terms][1] - 1
                    cuts[gap.dimension] = phase.element, size, 1
            operands.append(_subview(source, *map(list, zip(*cuts, strict=True))))
        yield operands


def _subview(value: ir.Value, offsets: list[int], sizes: list[int], strides: list[int]) -> ir.Value:
    layout = static_layout(value.type)
    assert layout is not None, "asked before"
    own, begin = layout
    offset = begin + sum(place * step for place, step in zip(offsets, own, strict=True))
    layout_of_part = ir.StridedLayoutAttr.get(offset, [a * b for a, b in zip(own, strides, strict=True)])
    kind = ir.MemRefType.get(sizes, value.type.element_type, layout_of_part)
    return upstream("memref").SubViewOp(kind, value, [], [], [], offsets, sizes, strides).result
