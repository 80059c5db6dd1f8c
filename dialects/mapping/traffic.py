"""What an exchange moves: elements that each tile sends, receives and already has.

Parts of the source that hold the same elements (repeats) form a *class*. If different classes have no element in
common, an element belongs to one class, and whether it is sent depends only on which classes the tiles of its
receivers hold: so all counts follow from how many positions classes of the two sides have in common.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.errors import TargetError
from ipu_mlir.dialects.mapping import cover
from ipu_mlir.dialects.mapping.element_traffic import traffic_by_element
from ipu_mlir.dialects.mapping.factors import Family, family_of
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.overlap import count_common, count_on_same_tiles
from ipu_mlir.dialects.mapping.refine import refine
from ipu_mlir.dialects.mapping.views import View, seen_through


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


@lru_cache(maxsize=64)
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
    give, take = family_with_distinct_tiles(source), family_with_distinct_tiles(dest)
    counts = None
    if source_view.size and give.num_parts and take.num_parts:
        counts = _in_closed_form(give, source_view, take, dest_view, num_tiles)
        if counts is None:
            strides = {loop.stride for x in (source, dest) for loop in x.normalized().loops if loop.stride > 0}
            strides.update(stride for view in (source_view, dest_view) for stride in view.strides)
            fine_give, fine_take = _cut(source, strides), _cut(dest, strides)
            counts = _in_closed_form(fine_give, source_view, fine_take, dest_view, num_tiles)
    if counts is None:
        counts = traffic_by_element(give, source_view, take, dest_view, num_tiles)
    for per_tile in counts:
        per_tile.flags.writeable = False
    return Traffic(*counts)


def _cut(mapping: Mapping, strides: set[int]) -> Family:
    """The parts of ``mapping``, with loops cut in two at ``strides`` where that is possible."""
    normal = mapping.normalized()
    return family_of(refine(normal.loops, strides), normal.offset, normal.first_tile)


def _in_closed_form(
    give: Family, give_view: View, take: Family, take_view: View, num_tiles: int
) -> tuple[IntArray, IntArray, IntArray] | None:
    """Received, sent and local, or None if the two sides have no common digits, or source parts overlap in part."""
    seen_give, seen_take = seen_through(give, give_view), seen_through(take, take_view)
    if seen_give is None or seen_take is None:
        return None
    local_of_part = count_on_same_tiles(seen_give, seen_take)
    sent_of_class = _sent_by_class(seen_give, seen_take)
    if local_of_part is None or sent_of_class is None:
        return None
    received, sent, local = (np.zeros(num_tiles, dtype=np.int64) for _ in range(3))
    local[seen_take.tiles] = local_of_part
    received[seen_take.tiles] = seen_take.sizes - local_of_part
    sent[seen_give.tiles[:: len(seen_give.repeats)]] = sent_of_class
    return received, sent, local


def _sent_by_class(give: Family, take: Family) -> IntArray | None:
    """How many positions of each class of ``give`` some tile needs that does not hold the class.

    A position is not sent if nobody needs it, or if all who need it hold its class already.
    """
    overlapping = not all(factor.disjoint for factor in take.factors)
    if not all(factor.disjoint for factor in give.factors) or (overlapping and len(give.repeats) > 1):
        return None
    classes = replace(give, repeats=np.zeros(1, dtype=np.int64))
    needed = count_common(classes, None, cover.union(take), None)
    part = give.parts_on(take.tiles)
    held = np.where(part >= 0, part // len(give.repeats), -1).reshape(-1, len(take.repeats))
    settled = np.flatnonzero((held[:, 0] >= 0) & (held.min(axis=1) == held.max(axis=1)))
    kept_class = held[settled, 0]
    kept = count_common(classes, kept_class, cover.exclusive(take), settled)
    if needed is None or kept is None:
        return None
    kept = np.broadcast_to(kept, kept_class.shape)
    return needed - np.bincount(kept_class, kept, classes.num_parts).astype(np.int64)
