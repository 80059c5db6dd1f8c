"""Loops that were cut in two, whole again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ipu_mlir.runtime.translator.array_ir.access import Access
from ipu_mlir.runtime.translator.array_ir.expression import Apply, Const, Expression, Gather, Read, arguments, postorder
from ipu_mlir.runtime.translator.array_ir.statements import Fold
from ipu_mlir.runtime.translator.array_ir.transform import with_accesses


def with_loops_joined(fold: Fold, outer: int) -> Fold:
    """``fold`` with ``outer`` and the loop after it as one reduced loop, if they act as one in every access."""
    inner = outer + 1
    if inner >= len(fold.extents) or not (fold.reduced[outer] and fold.reduced[inner]):
        return fold
    extents = fold.extents
    if any(a.strides[outer] != a.strides[inner] * extents[inner] for a in _accesses(fold)):
        return fold
    joined = _without_loop(fold, outer)
    length = extents[outer] * extents[inner]
    return replace(joined, extents=(*extents[:outer], length, *extents[inner + 1 :]))


def joined(first: Fold, second: Fold) -> Fold | None:
    """One loop nest for both, if ``second`` goes on in one reduced loop where ``first`` ends, and all else is equal."""
    if first.reduced != second.reduced:
        return None
    unlike = [loop for loop, (m, n) in enumerate(zip(first.extents, second.extents, strict=True)) if m != n]
    if len(unlike) > 1:
        return None
    for loop in unlike or range(len(first.extents)):
        if first.reduced[loop] and first.extents[loop] + second.extents[loop] > 2:
            both = _continued(first, second, loop)
            if both is not None:
                return both
    return None


def _continued(first: Fold, second: Fold, loop: int) -> Fold | None:
    """Both as one, if every access of ``second`` is that of ``first``, moved to where ``loop`` ends there.

    The stride of a loop of one iteration says nothing, so the strides are those of the longer one.
    """
    counts = first.extents[loop], second.extents[loop]
    by_first = counts[0] >= counts[1]

    def end(a: Access, b: Access) -> int:
        return (a if by_first else b).strides[loop] * counts[0]

    def follows(a: Access, b: Access) -> bool:
        free = loop if min(counts) == 1 else -1
        alike = all(m == n or other == free for other, (m, n) in enumerate(zip(a.strides, b.strides, strict=True)))
        return a.buffer is b.buffer and alike and a.offset + end(a, b) == b.offset

    def back(access: Access) -> Access:
        return replace(access, offset=access.offset - end(access, access))

    outputs = all(map(follows, first.outputs, second.outputs))
    if not outputs or not _equal((*first.values, *first.inits), (*second.values, *second.inits), follows):
        return None
    longer = first if by_first else with_accesses(second, back, back)
    assert isinstance(longer, Fold), "a reduction with other accesses is a reduction"
    extents = (*first.extents[:loop], sum(counts), *first.extents[loop + 1 :])
    return replace(longer, extents=extents, origin=first.origin)


def _equal(
    first: Sequence[Expression], second: Sequence[Expression], follows: Callable[[Access, Access], bool]
) -> bool:
    """True if both compute the same, the second from accesses of which each ``follows`` that of the first."""
    one, other = postorder(first), postorder(second)
    if len(one) != len(other):
        return False
    place_a = {id(node): position for position, node in enumerate(one)}
    place_b = {id(node): position for position, node in enumerate(other)}

    def alike(a: Expression, b: Expression) -> bool:
        if type(a) is not type(b) or a.dtype != b.dtype:
            return False
        if [place_a[id(arg)] for arg in arguments(a)] != [place_b[id(arg)] for arg in arguments(b)]:
            return False
        match a, b:
            case Const(), Const():
                return a.value.tobytes() == b.value.tobytes()
            case Read(), Read():
                return follows(a.access, b.access)
            case Gather(), Gather():
                return follows(a.access, b.access) and (a.stride, a.limit) == (b.stride, b.limit)
            case Apply(), Apply():
                return a.call == b.call
        return True

    return all(map(alike, one, other)) and [place_a[id(a)] for a in first] == [place_b[id(b)] for b in second]


def _accesses(fold: Fold) -> Iterator[Access]:
    for node in postorder((*fold.values, *fold.inits)):
        if isinstance(node, Read | Gather):
            yield node.access
    yield from fold.outputs


def _without_loop(fold: Fold, loop: int) -> Fold:
    def changed(access: Access) -> Access:
        return replace(access, strides=(*access.strides[:loop], *access.strides[loop + 1 :]))

    result = with_accesses(fold, changed, changed)
    assert isinstance(result, Fold), "a reduction with other accesses is a reduction"
    return replace(result, reduced=(*fold.reduced[:loop], *fold.reduced[loop + 1 :]))
