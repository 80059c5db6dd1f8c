"""Ranks: how many elements of its row come before an element in a stable sort."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet, Shapes
from ipu_mlir.dialects.codelets.sort import sort_cycles
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]


def _less(first: list[Array], second: list[Array]) -> Array:
    """Where ``first`` has the smaller key, the first one in which both differ; NaN is neither smaller nor greater."""
    less = np.zeros(np.broadcast_shapes(first[0].shape, second[0].shape), np.bool_)
    tie = np.ones_like(less)
    for left, right in zip(first, second, strict=True):
        less |= tie & (left < right)
        tie &= left == right
    return less


def _rank_one_vertex(*operands: Array) -> tuple[Array, ...]:
    """Count, for each own element, those that are less, and of those that tie the earlier ones: the definition.

    Operands: keys (outer, ranked, inner), the most important first; the positions of the vertex's elements in a row.
    """
    *keys, positions = operands
    outer, size, inner = keys[0].shape
    places = np.arange(size)
    ranks = np.zeros((outer, len(positions), inner), np.int64)
    for row, number, column in np.ndindex(ranks.shape):
        own = int(positions[number])
        others = [key[row, :, column] for key in keys]
        mine = [key[row, own, column] for key in keys]
        before = _less(others, mine)
        tie = ~before & ~_less(mine, others)
        ranks[row, number, column] = np.count_nonzero(before | (tie & (places < own)))
    return (ranks,)


def _rank_all(*operands: Array) -> tuple[Array, ...]:
    """All ranks by a stable sort. NaN, which ties with all, has as many before it as there are before it in the row."""
    *keys, _, out = operands
    is_nan = np.isnan(keys[0]) if keys[0].dtype.kind == "f" else None
    if is_nan is None or not is_nan.any():
        _invert(np.lexsort(keys[::-1], 1) if len(keys) > 1 else _stable_order(keys[0]), out)
        return (out,)
    _invert(np.argsort(keys[0], 1, "stable"), out)  # NaN came last, and counts for the numbers behind it
    earlier = np.cumsum(is_nan, 1)
    own = np.arange(out.shape[1])[None, :, None]
    np.copyto(out, np.where(is_nan, own, out + earlier))
    return (out,)


def _stable_order(key: Array) -> Array:
    """``numpy.argsort(key, 1, "stable")`` of a key without NaN.

    Keys of up to 32 bits are sorted as one integer with the place behind them: no two tie, so that NumPy may use its
    fastest sort. For 64 x 1024 random f32 that took 1.8 ms, where the stable sort took 3.5 ms.
    """
    if key.dtype.itemsize > 4:
        return np.argsort(key, 1, "stable")
    bits = key
    if key.dtype.kind == "f":
        bits = np.add(key, 0.0, dtype=np.float32).view(np.int32)  # that makes 0 of -0, which ties with it
        bits ^= (bits >> 31) & 0x7FFFFFFF
    both = bits.astype(np.int64)
    both <<= 32
    both |= np.arange(key.shape[1])[None, :, None]
    both.sort(axis=1)
    both &= 0xFFFFFFFF
    return both


def _invert(order: Array, out: Array) -> None:
    """Write the place of every element in ``order``, permutations along the middle one of three dimensions."""
    outer, size, inner = order.shape
    place = np.arange(size)[None, :, None]
    if outer == inner == 1:
        out[0, order.ravel(), 0] = place.ravel()
    elif inner == 1:
        np.put(out, order[..., 0] + size * np.arange(outer)[:, None], place)
    else:
        out[np.arange(outer)[:, None, None], order, np.arange(inner)] = place


def _takes(inputs: Shapes, outputs: Shapes) -> bool:
    if len(inputs) < 2 or len(outputs) != 1 or len(inputs[0]) != 3:
        return False
    *keys, positions = inputs
    outer, _, inner = keys[0]
    return {*keys} == {keys[0]} and len(positions) == 1 and outputs[0] == (outer, *positions, inner)


def rank_cycles(keys: Size, rows: Size, own: Size, n: Size, dtype: str, machine: Machine) -> Size:
    """Ranks of ``own`` elements among ``n`` in each of ``rows``, by ``keys`` keys. Source: assumed.

    The workers share the own elements and compare each with all: a load, a comparison and an addition per key. Or they
    sort the rows as in ``sort_cycles`` and write the places: whichever is faster.
    """
    compared = 26 + per_worker(rows * own, machine) * n * keys * (2 + element_type(dtype).slowdown)
    by_sorting = sort_cycles(rows, n, machine, keys) + machine.workers * per_worker(rows * n, machine) * 3
    return smaller(11 + machine.workers * compared, by_sorting)


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    rows, own = product_over(sizes, _rows(call)), product_over(sizes, call.loops[-2])
    return rank_cycles(len(call.dtypes) - 2, rows, own, product_over(sizes, call.reduced), call.dtypes[0], machine)


def _scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """A copy of every row that a worker has in hand."""
    in_hand = smaller(machine.workers, product_over(sizes, _rows(call)))
    return in_hand * product_over(sizes, call.reduced) * element_type(call.dtypes[0]).bytes


def _rows(call: CodeletCall) -> tuple[int, ...]:
    """The loops over rows, which the positions of the own elements do not depend on."""
    return tuple(loop for loop in call.kept if loop not in call.loops[-2])


RANK = LibraryCodelet(
    name="rank",
    per_tile=_rank_one_vertex,
    vectorised=_rank_all,
    fills_outputs=True,
    rounds=False,
    cycles=_cycles,
    scratch_bytes=_scratch_bytes,
    code_bytes=512,
    needs="keys of three dimensions, the positions of the ranks, and a result with a rank for each",
    takes=_takes,
    source="the inverse of numpy.argsort(kind='stable') or numpy.lexsort; in a lone key NaN ties with every number",
)
"""Dimensions are outer, ranked, inner. Several keys are integers."""
