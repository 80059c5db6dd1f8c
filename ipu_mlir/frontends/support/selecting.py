"""What is selected of rows, as many as values say: the places of some, and boxes that overlap no others."""

from typing import Any

import numpy as np

from ipu_mlir.tracing.control.loops import fori_loop, while_loop
from ipu_mlir.tracing.graph import current_trace

_AT_ONCE = 1024, 1 << 23
"""Boxes that are compared with all others at a time, and the pairs of which these are at most."""


def words(text: str) -> frozenset[str]:
    """Names of functions, such as those that take what is selected, written in a row."""
    return frozenset(text.split())


def places_of(mask: Any, size: int) -> Any:
    """The places of the first ``size`` that ``mask``, ``(n,)``, selects, as int64; 0 behind them."""
    trace = current_trace()
    assert trace is not None, "what is selected of known rows is computed by NumPy"
    number = np.cumsum(mask.astype(np.int32)) - 1
    row = np.where(mask & (number < size), number, size)
    found = trace.constant(np.zeros(size + 1, np.int64))
    return found.at[row].set(trace.constant(np.arange(mask.shape[0])))[:size]


def kept(corners: Any, groups: Any, is_there: Any, threshold: Any) -> Any:
    """Which boxes are kept: those that no kept box before them overlaps, in its group, by more than ``threshold``.

    Args:
        corners: ``(n, 4)``, two opposite corners each, the smaller numbers first; the first box is the best.
        groups: integers ``(n,)``.
        is_there: truth values ``(n,)``, the true ones first; what is not there is not kept and suppresses none.
        threshold: of the area that two boxes have in common, divided by that which they cover together.
    """
    count = corners.shape[0]
    size = max(1, min(count, _AT_ONCE[0], _AT_ONCE[1] // max(count, 1)))
    blocks = -(-count // size)
    behind = blocks * size - count
    if behind:
        corners, groups, is_there = (
            np.pad(each, [(0, behind), (0, 0)][: len(each.shape)]) for each in (corners, groups, is_there)
        )
    places = np.arange(blocks * size)

    def block(number: Any, alive: Any) -> Any:
        at = np.arange(size) + number * size
        one, group = corners[at], groups[at]

        def hits(others: Any, of: Any, where: Any) -> Any:
            is_later = (at[:, None] < where[None]) & (group[:, None] == of[None])
            return is_later & (_overlap(one, others) > threshold)

        inside, start = hits(one, group, at), alive[at]

        def again(state: Any) -> Any:  # after n rounds the first n are right
            return state[1], start & ~np.any(state[1][:, None] & inside, axis=0)

        _, last = while_loop(lambda state: np.any(state[0] != state[1]), again, again((start, start)))
        return alive & ~np.any(last[:, None] & hits(corners, groups, places), axis=0)

    if blocks == 1:
        return block(0, is_there)[:count]
    needed = (np.sum(is_there.astype(np.int32)) + np.int32(size - 1)) // np.int32(size)
    return fori_loop(0, needed, block, is_there)[:count]


def _overlap(one: Any, others: Any) -> Any:
    """Area in common by area together, ``(m, n)``, of boxes ``(m, 4)`` and ``(n, 4)``."""
    sides = [
        np.maximum(
            np.minimum(one[:, None, d + 2], others[None, :, d + 2]) - np.maximum(one[:, None, d], others[None, :, d]), 0
        )
        for d in (0, 1)
    ]
    common = sides[0] * sides[1]
    areas = [(each[:, 2] - each[:, 0]) * (each[:, 3] - each[:, 1]) for each in (one, others)]
    return common / (areas[0][:, None] + areas[1][None] - common)
