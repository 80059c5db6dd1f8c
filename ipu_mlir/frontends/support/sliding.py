"""Windows over the last dimensions of traced tensors."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing.emit import Loop, Sum, empty, structured
from ipu_mlir.tracing.scalar_ops import BODIES


def slide(name: str, x: Any, kernel: Any, stride: Any, dilation: Any, counts: Sequence[int], neutral: Any) -> Any:
    """What ``name`` makes of all elements of each window over the last dimensions of ``x``."""
    rank, first = len(kernel), len(x.shape) - len(kernel)
    with x.program.emit("pool"):
        alone = x.program.wrap(empty(kernel, x.dtype), tuple(kernel), x.dtype)
    sizes = [*x.shape[:first], *counts]
    loops = [*map(Loop, sizes), *(Loop(size, "reduction") for size in kernel)]
    last = len(sizes)
    along = [Sum((first + axis, last + axis), (stride[axis], dilation[axis])) for axis in range(rank)]
    body = BODIES[name].for_kind(kind_of(x.dtype))
    assert body is not None, "numbers have sums and an order"
    inputs = [(x, (*range(first), *along)), (alone, tuple(range(last, last + rank)))]
    return structured(
        x.program, "pool", inputs, loops, tuple(range(last)), x.dtype, lambda a, _, best: body(best, a), neutral
    )


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
