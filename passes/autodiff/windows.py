"""The adjoint of reading windows: what meets one element from several windows is added up.

An operand read at ``s * o + d * w + c`` by windows ``o`` of points ``w`` takes, at element p, the sum over w of what
stands at window (p - c - d * w) / s, if that is a whole number. With zeros between the windows and around them that is
an ordinary sum over w: the gradient of a convolution, or of a pooling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import zeros
from ipu_mlir.passes.autodiff.scatters import add_at_indices
from ipu_mlir.passes.support.affine_expressions import as_it_is
from ipu_mlir.passes.support.linalg_builders import generic, identity_map

arith, tensor = upstream("arith"), upstream("tensor")


def is_window(index: Index) -> bool:
    """True if an index moves with several loops.

    >>> is_window(Index((2, 0, 1))), is_window(Index((0, 0, 2)))
    (True, False)
    """
    return sum(factor != 0 for factor in index.coefficients) > 1


@dataclass(frozen=True)
class Axis:
    """How the windows of one dimension lie in it, all steps being positive.

    Attributes:
        base: the loop over windows; None if the index is a constant.
        step: from one window to the next.
        start: where the first element of the first window would lie if all windows were read backwards.
        points: the loops over the points of a window, each with the distance from one to the next.
        flipped: the loops that run backwards.
    """

    base: int | None
    step: int
    start: int
    points: tuple[tuple[int, int], ...]
    flipped: tuple[int, ...]


def axis_of(index: Index, extents: Sequence[int]) -> Axis:
    """The windows that ``index`` reads, where loops run over ``extents``.

    The loop over windows is the longest one. A point that is read later in its window belongs to an earlier window, so
    loops over points run backwards, but for those that go backwards as they are.

    >>> axis_of(Index((2, 1)), extents=(5, 3))
    Axis(base=0, step=2, start=2, points=((1, 1),), flipped=(1,))
    >>> axis_of(Index((-1,), constant=7), extents=(8,))
    Axis(base=0, step=1, start=0, points=(), flipped=(0,))
    """
    loops = [loop for loop, factor in enumerate(index.coefficients) if factor]
    if not loops:
        return Axis(None, 1, index.constant, (), ())
    base = max(loops, key=lambda loop: extents[loop])
    step, start, flipped = index.coefficients[base], index.constant, []
    if step < 0:
        flipped.append(base)
        step, start = -step, start + step * (extents[base] - 1)
    points = []
    for loop in loops:
        distance = index.coefficients[loop]
        if loop == base:
            continue
        points.append((loop, abs(distance)))
        if distance > 0:
            flipped.append(loop)
            start += distance * (extents[loop] - 1)
    return Axis(base, step, start, tuple(points), tuple(flipped))


def folded(each: ir.Value, indices: Sequence[Index], shape: Sequence[int]) -> ir.Value:
    """A tensor of ``shape`` whose elements are the sums of those of ``each`` that ``indices`` bring there.

    Args:
        each: a dimension for each loop.
        indices: per dimension of the result, sums of multiples of these loops.
    """
    extents = list(each.type.shape)
    counts = [sum(index.coefficients[loop] != 0 for index in indices) for loop in range(len(extents))]
    kind = ir.RankedTensorType.get(list(shape), each.type.element_type)
    if any(count > 1 for count in counts):
        return add_at_indices(each, indices, zeros(kind))
    axes = [axis_of(index, extents) for index in indices]
    each = _flipped(each, [loop for axis in axes for loop in axis.flipped])
    for axis, size in zip(axes, shape, strict=True):
        each = _spread(each, axis, size, extents)
    return _with_constants(_added(each, axes, shape), axes, kind)


def _flipped(each: ir.Value, loops: Sequence[int]) -> ir.Value:
    """``each`` with some dimensions in reverse."""
    shape = list(each.type.shape)
    loops = [loop for loop in loops if shape[loop] > 1]
    if not loops:
        return each
    dims = [ir.AffineExpr.get_dim(loop) for loop in range(len(shape))]
    read = [as_it_is(dims[d] * -1 + (shape[d] - 1)) if d in loops else dims[d] for d in range(len(shape))]
    empty = tensor.EmptyOp(shape, each.type.element_type).result
    maps = [ir.AffineMap.get(len(shape), 0, read), identity_map(len(shape))]
    return generic([each], [empty], maps, [True] * len(shape), lambda values: values[:1]).results[0]


def _spread(each: ir.Value, axis: Axis, size: int, extents: Sequence[int]) -> ir.Value:
    """``each`` with zeros between and around its windows, as far as elements of a dimension of ``size`` reach."""
    if axis.base is None:
        return each
    length = size + sum(distance * (extents[loop] - 1) for loop, distance in axis.points)
    shape = list(each.type.shape)
    if axis.step == 1 and axis.start == 0 and shape[axis.base] == length:
        return each
    offsets = [axis.start if d == axis.base else 0 for d in range(len(shape))]
    steps = [axis.step if d == axis.base and shape[d] > 1 else 1 for d in range(len(shape))]
    wide = [length if d == axis.base else n for d, n in enumerate(shape)]
    blank = zeros(ir.RankedTensorType.get(wide, each.type.element_type))
    return tensor.InsertSliceOp(each, blank, [], [], [], offsets, shape, steps).result


def _added(each: ir.Value, axes: Sequence[Axis], shape: Sequence[int]) -> ir.Value:
    """The sums over the points of windows, in the order of ``axes``, without those that have no loop."""
    own = [(axis, size) for axis, size in zip(axes, shape, strict=True) if axis.base is not None]
    points = [loop for axis, _ in own for loop, _ in axis.points]
    place = {loop: ir.AffineExpr.get_dim(len(own) + number) for number, loop in enumerate(points)}
    read: list[ir.AffineExpr] = [place.get(loop, ir.AffineExpr.get_constant(0)) for loop in range(len(each.type.shape))]
    for number, (axis, _) in enumerate(own):
        assert axis.base is not None
        at = ir.AffineExpr.get_dim(number)
        for loop, distance in axis.points:
            at = at + place[loop] * distance
        read[axis.base] = as_it_is(at)
    loops = len(own) + len(points)
    source = ir.AffineMap.get(loops, 0, read)
    if source == identity_map(len(own)):
        return each
    output = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(number) for number in range(len(own))])
    start = zeros(ir.RankedTensorType.get([size for _, size in own], each.type.element_type))
    sizes = (
        [tensor.EmptyOp([each.type.shape[loop] for loop in points], each.type.element_type).result] if points else []
    )
    windows = [ir.AffineMap.get(loops, 0, [place[loop] for loop in points])] if points else []
    kinds = [True] * len(own) + [False] * len(points)

    def body(values: list[ir.Value]) -> list[ir.Value]:
        return [arith.addf(values[-1], values[0])]

    return generic([each, *sizes], [start], [source, *windows, output], kinds, body).results[0]


def _with_constants(value: ir.Value, axes: Sequence[Axis], kind: ir.RankedTensorType) -> ir.Value:
    """``value`` at the constant indices of those dimensions that no loop moves in."""
    if all(axis.base is not None for axis in axes):
        return value
    offsets = [axis.start if axis.base is None else 0 for axis in axes]
    sizes = [1 if axis.base is None else size for axis, size in zip(axes, kind.shape, strict=True)]
    return tensor.InsertSliceOp(value, zeros(kind), [], [], [], offsets, sizes, [1] * len(axes)).result
