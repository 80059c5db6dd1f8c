"""Traffic of an exchange: elements that each tile sends, receives and already has.

Parts of the source that hold the same elements (repeats) form a *class*. If different classes have no element in
common, an element belongs to one class, and whether it is sent depends only on which classes the tiles of its
receivers hold: so all counts follow from how many positions classes of the two sides have in common.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.mapping import cover
from ipu_mlir.dialects.mapping.element_traffic import traffic_by_element
from ipu_mlir.dialects.mapping.factors import Family
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping, cut_at, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.overlap import count_common, count_on_same_tiles
from ipu_mlir.dialects.mapping.views import View, seen_through
from ipu_mlir.dialects.support.errors import TargetError


@dataclass(frozen=True, eq=False)
class Traffic:
    """Elements per tile, each of shape ``(num_tiles,)``.

    ``received``: needed by the tile's part of the destination and not held by its part of the source.
    ``local``: needed and held. ``sent``: held, and received by at least one other tile; an element is sent once,
    however many receive it, by the lowest tile that holds it.
    """

    received: IntArray
    sent: IntArray
    local: IntArray


@lru_cache(maxsize=256)
def exchange_traffic(source: Mapping, source_view: View, dest: Mapping, dest_view: View, num_tiles: int) -> Traffic:
    """The traffic of giving each element of ``dest_view`` the element of ``source_view`` at the same position.

    Both views have one shape; no two positions of ``dest_view`` show one element. Elements of ``dest`` outside of the
    view are not touched. The arrays are shared between equal calls and read-only.

    Raises:
        TargetError: a part lies on a tile that is not one of ``num_tiles``.
    """
    assert source_view.shape == dest_view.shape, f"an exchange between views {source_view} and {dest_view}"
    for mapping in (source, dest):
        if mapping.num_parts and not 0 <= mapping.min_tile <= mapping.max_tile < num_tiles:
            raise TargetError(
                f"an exchange has a part on tile {mapping.min_tile if mapping.min_tile < 0 else mapping.max_tile}, but "
                f"there are {num_tiles} tiles; use a larger target or place {mapping} on fewer tiles"
            )
    counts = _in_closed_form(source, source_view, dest, dest_view, num_tiles)
    if counts is None:
        give, take = family_with_distinct_tiles(source), family_with_distinct_tiles(dest)
        counts = traffic_by_element(give, source_view, take, dest_view, num_tiles)
    for per_tile in counts:
        per_tile.flags.writeable = False
    return Traffic(*counts)


def _in_closed_form(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, num_tiles: int
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Received, sent and local; None if the two sides have no common digits, or if classes overlap in part.

    Any numbering of the positions will do, and the one in which a side has long runs is the one to compare in.
    """
    for give, take in common_forms(source, source_view, dest, dest_view):
        counts = _count(give, take, source_view.size, num_tiles)
        if counts is not None:
            return counts
    return None


def common_forms(source: Mapping, source_view: View, dest: Mapping, dest_view: View) -> Iterator[tuple[Family, Family]]:
    """The two sides as families of positions, in every way to write them in which they may have a closed form."""
    give, take = family_with_distinct_tiles(source), family_with_distinct_tiles(dest)
    if not (source_view.size and give.num_parts and take.num_parts):
        return
    orders = dict.fromkeys((source_view.memory_order(), dest_view.memory_order()))
    views = [(source_view.permuted(order), dest_view.permuted(order)) for order in orders]
    strides = {loop.stride for x in (source, dest) for loop in x.normalized().loops if loop.stride > 0}
    strides.update(stride for view in (source_view, dest_view) for stride in view.strides)
    for cut in (set(), strides):
        for give_view, take_view in views:
            seen_give = seen_through(cut_at(source, cut), give_view)
            seen_take = seen_through(cut_at(dest, cut), take_view)
            if seen_give is not None and seen_take is not None:
                yield seen_give, seen_take


def _count(
    give: Family, take: Family, num_positions: int, num_tiles: int
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Received, sent and local positions of two families that hold positions ``0 .. num_positions - 1``."""
    overlapping = not all(factor.disjoint for factor in take.factors)
    if not all(factor.disjoint for factor in give.factors) or (overlapping and len(give.repeats) > 1):
        return None
    local_of_part = count_on_same_tiles(give, take)
    if local_of_part is None:
        return None
    local_of_part = np.broadcast_to(local_of_part, take.tiles.shape)
    classes = replace(give, repeats=np.zeros(1, dtype=np.int64))
    kept_class, kept = _kept(give, take, None if overlapping else local_of_part)
    needed = classes.sizes
    if cover.union_size(take) < num_positions:
        needed = count_common(classes, None, cover.union(take), None)
    if kept is None or needed is None:
        return None
    received, sent, local = (np.zeros(num_tiles, dtype=np.int64) for _ in range(3))
    local[take.tiles] = local_of_part
    received[take.tiles] = take.sizes - local_of_part
    sent[give.tiles[:: len(give.repeats)]] = needed - np.bincount(kept_class, kept, classes.num_parts).astype(np.int64)
    return received, sent, local


def _kept(give: Family, take: Family, local: IntArray | None) -> tuple[IntArray, IntArray | None]:
    """Classes of ``give`` and how many of their positions need not be sent, since all who need them hold the class.

    These are the positions that only one group of repeats of ``take`` holds, all on tiles that hold one class.
    ``local`` has what each part of ``take`` finds on its tile, if no two groups overlap.
    """
    part = give.parts_on(take.tiles)
    held = np.where(part >= 0, part // len(give.repeats), -1).reshape(-1, len(take.repeats))
    settled = np.flatnonzero((held[:, 0] >= 0) & (held == held[:, :1]).all(axis=1))
    kept_class = held[settled, 0]
    if local is not None:
        return kept_class, local.reshape(held.shape)[settled, 0]
    classes = replace(give, repeats=np.zeros(1, dtype=np.int64))
    kept = count_common(classes, kept_class, cover.exclusive(take), settled)
    return kept_class, None if kept is None else np.broadcast_to(kept, kept_class.shape)
