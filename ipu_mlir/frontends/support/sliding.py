"""Windows over the last dimensions of traced tensors."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing.emit import Loop, Sum, constant, empty, structured
from ipu_mlir.tracing.scalar_ops import BODIES

arith = upstream("arith")


def slide(name: str, x: Any, kernel: Any, stride: Any, dilation: Any, counts: Sequence[int], neutral: Any) -> Any:
    """What ``name`` makes of all elements of each window over the last dimensions of ``x``."""
    body = BODIES[name].for_kind(kind_of(x.dtype))
    assert body is not None, "numbers have sums and an order"
    return _over_windows([x], [], kernel, stride, dilation, counts, lambda a, _, best: body(best, a), neutral)


def slide_where(own: Any, places: Any, values: Any, kernel: Any, dilation: Any) -> Any:
    """The sum of those of ``values`` in the window of each element whose place is that of the element, ``own``."""
    add = BODIES["add"].for_kind(kind_of(values.dtype))
    assert add is not None, "numbers have sums"

    def body(value: ir.Value, place: ir.Value, here: ir.Value, _: ir.Value, total: ir.Value) -> ir.Value:
        is_here = arith.cmpi(arith.CmpIPredicate.eq, place, here)
        return add(total, arith.select(is_here, value, constant(0, values.dtype)))

    return _over_windows([values, places], [own], kernel, [1] * len(kernel), dilation, own.shape, body, 0)


def _over_windows(
    slid: Sequence[Any],
    fixed: Sequence[Any],
    kernel: Any,
    stride: Any,
    dilation: Any,
    counts: Sequence[int],
    body: Callable[..., ir.Value],
    neutral: Any,
) -> Any:
    """A reduction of windows over the last dimensions of ``slid``; ``fixed`` have an element for each window."""
    x, rank = slid[0], len(kernel)
    first = len(x.shape) - rank
    with x.program.emit("pool"):
        alone = x.program.wrap(empty(kernel, x.dtype), tuple(kernel), x.dtype)
    sizes = [*x.shape[:first], *counts]
    loops = [*map(Loop, sizes), *(Loop(size, "reduction") for size in kernel)]
    last = len(sizes)
    along = [Sum((first + axis, last + axis), (stride[axis], dilation[axis])) for axis in range(rank)]
    inputs = [
        *((each, (*range(first), *along)) for each in slid),
        *((each, tuple(range(first, last))) for each in fixed),
        (alone, tuple(range(last, last + rank))),
    ]
    return structured(x.program, "pool", inputs, loops, tuple(range(last)), x.dtype, body, neutral)


def pads_around(x: Any, ends: Sequence[tuple[int, int]], number: Any) -> Any:
    """``x`` with ``number`` before and behind its last dimensions, as often as ``ends`` says of each."""
    if not any(map(any, ends)):
        return x
    around = [(0, 0)] * (len(x.shape) - len(ends)) + list(ends)
    return np.pad(x, around, constant_values=np.asarray(number, x.dtype)[()])


def places_of_largest(
    shape: Any, padded: Any, best: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, counts: Any
) -> Any:
    """Where the largest element of each window stands in its image: the first of equal ones."""
    rank = len(kernel)
    sizes = shape[-rank:]
    found = padded.program.constant(np.full((1,) * len(shape), np.iinfo(np.int64).max))
    found = np.broadcast_to(found, best.shape)
    for offsets in reversed(list(product(*map(range, kernel)))):
        part = padded[
            (
                ...,
                *(
                    slice(o * d, o * d + (n - 1) * s + 1, s)
                    for o, d, n, s in zip(offsets, dilation, counts, stride, strict=True)
                ),
            )
        ]
        place = np.zeros((1,) * rank, np.int64)
        for axis, (offset, apart, count, step, pad) in enumerate(
            zip(offsets, dilation, counts, stride, padding, strict=True)
        ):
            along = np.arange(count) * step + offset * apart - pad
            place = place * sizes[axis] + along.reshape([-1, *[1] * (rank - 1 - axis)])
        is_best = (part == best) | (part != part)
        found = np.where(is_best, np.broadcast_to(place, counts), found)
    return found
