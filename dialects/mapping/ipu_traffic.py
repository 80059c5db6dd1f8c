"""Traffic of an exchange between IPUs: elements that an IPU needs and none of its tiles holds.

An element that several tiles of an IPU need comes to it once. Elements that several IPUs need come to each of them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ipu_mlir.dialects.mapping.enumeration import elements_of, lowest_holder
from ipu_mlir.dialects.mapping.factors import Family
from ipu_mlir.dialects.mapping.ipu_boxes import Boxes, apart, boxes_on_ipus
from ipu_mlir.dialects.mapping.loops import BoolArray, IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping, family_with_distinct_tiles
from ipu_mlir.dialects.mapping.overlap import count_common
from ipu_mlir.dialects.mapping.traffic import common_forms
from ipu_mlir.dialects.mapping.views import View


@dataclass(frozen=True, eq=False)
class IpuTraffic:
    """Elements per IPU, each of shape ``(ipus,)``.

    ``received``: needed by its tiles and held by none of them. ``sent``: held, and received by others, once for each of
    them; where several IPUs hold what others need, any of them may send it, and ``sent`` shares it out evenly.
    ``between``: from each IPU to each other one, shape ``(ipus, ipus)``.
    """

    received: IntArray
    sent: IntArray
    between: IntArray


@lru_cache(maxsize=1024)
def ipu_traffic(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, ipus: int, tiles_per_ipu: int
) -> IpuTraffic:
    """The traffic between IPUs when ``dest_view`` gets the elements of ``source_view``, as in ``exchange_traffic``.

    The arrays are shared between equal calls and read-only.
    """
    found = _without_elements(source, source_view, dest, dest_view, ipus, tiles_per_ipu)
    if found is None:
        found = _by_element(source, source_view, dest, dest_view, ipus, tiles_per_ipu)
    found.received.flags.writeable = found.sent.flags.writeable = found.between.flags.writeable = False
    return found


def traffic_between_groups(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, groups: int, group_tiles: int
) -> IntArray | None:
    """Elements that each of ``groups`` of tiles sends to each other one, shape ``(groups, groups)``, as between IPUs.

    None where that is known only by looking at every element, and there are many.
    """
    found = traffic_if_fast(source, source_view, dest, dest_view, groups, group_tiles)
    return None if found is None else found.between


def traffic_if_fast(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, ipus: int, tiles_per_ipu: int
) -> IpuTraffic | None:
    """``ipu_traffic``; None where that is known only by looking at every element, and there are many."""
    found = _without_elements(source, source_view, dest, dest_view, ipus, tiles_per_ipu)
    if found is None and ipus * max(source.elements, dest.elements) <= _MOST_LOOKED_AT:
        found = _by_element(source, source_view, dest, dest_view, ipus, tiles_per_ipu)
    return found


def crossing_traffic(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, ipus: int, tiles_per_ipu: int, at: int
) -> tuple[int, int]:
    """Elements needed by IPUs from ``at`` on that only those below it hold, and the other way round.

    An element counts once, however many IPUs need it.
    """
    side = max(at, ipus - at)  # both sides are groups of so many IPUs, of which those at the ends have no tiles
    shift = (side - at) * tiles_per_ipu
    give, take = (replace(each, first_tile=each.first_tile + shift) for each in (source, dest))
    between = ipu_traffic(give, source_view, take, dest_view, 2, side * tiles_per_ipu).between
    return int(between[0, 1]), int(between[1, 0])


_MOST_LOOKED_AT = 1 << 24
"""Elements times groups, for a picture of the traffic."""


@lru_cache(maxsize=1024)
def _without_elements(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, ipus: int, tiles_per_ipu: int
) -> IpuTraffic | None:
    """The traffic, if it is known without looking at every element."""
    if _on_one_ipu(source, dest, tiles_per_ipu):
        return IpuTraffic(*(np.zeros(shape, dtype=np.int64) for shape in (ipus, ipus, (ipus, ipus))))
    for give, take in common_forms(source, source_view, dest, dest_view):
        found = _in_closed_form(give, take, ipus, tiles_per_ipu)
        if found is not None:
            return found
    return None


def _on_one_ipu(source: Mapping, dest: Mapping, tiles_per_ipu: int) -> bool:
    held = [x for x in (source, dest) if x.num_parts]
    return len({tile // tiles_per_ipu for x in held for tile in (x.min_tile, x.max_tile)}) <= 1


def _in_closed_form(give: Family, take: Family, ipus: int, tiles_per_ipu: int) -> IpuTraffic | None:
    """The traffic, from what each two boxes have in common."""
    held, needed = _disjoint_boxes(give, tiles_per_ipu), _disjoint_boxes(take, tiles_per_ipu)
    from_box, to_box = (x.reshape(-1) for x in np.indices((len(held.owners), len(needed.owners))))
    common = count_common(held, from_box, needed, to_box)
    if common is None:
        return None
    asked = np.zeros(ipus, dtype=np.int64)
    np.add.at(asked, needed.owners, needed.box_sizes)
    found = np.zeros((ipus, ipus), dtype=np.int64)  # of each IPU, what it has of what another one needs
    np.add.at(found, (held.owners[from_box], needed.owners[to_box]), np.broadcast_to(common, from_box.shape))
    return _shared_out(asked, found)


def _shared_out(asked: IntArray, found: IntArray) -> IpuTraffic:
    """The traffic when IPU ``j`` asks for ``asked[j]`` elements, and IPU ``i`` has ``found[i, j]`` of them."""
    received = asked - found.diagonal()
    others = found - np.diag(found.diagonal())
    have = others.sum(axis=0)
    share = np.divide(received, have, out=np.zeros(len(asked)), where=have > 0)
    moved = others * np.minimum(share, 1.0)
    return IpuTraffic(received, np.rint(moved.sum(axis=1)).astype(np.int64), np.rint(moved).astype(np.int64))


def _disjoint_boxes(family: Family, tiles_per_ipu: int) -> Boxes:
    """What the tiles of each IPU hold, in boxes that share no element on an IPU."""
    boxes = boxes_on_ipus(family, tiles_per_ipu)
    return boxes if all(factor.disjoint for factor in family.factors) else apart(boxes)


def _by_element(
    source: Mapping, source_view: View, dest: Mapping, dest_view: View, ipus: int, tiles_per_ipu: int
) -> IpuTraffic:
    """The traffic, by looking at every element."""
    held = _holders(source, source_view.elements(), ipus, tiles_per_ipu)
    needed = _holders(dest, dest_view.elements(), ipus, tiles_per_ipu)
    found = np.stack([np.count_nonzero(held & each, axis=1) for each in needed], axis=1)
    return _shared_out(np.count_nonzero(needed, axis=1), found)


def _holders(mapping: Mapping, shown: IntArray, ipus: int, tiles_per_ipu: int) -> BoolArray:
    """True for each IPU and each of the elements ``shown`` that a tile of it holds, shape ``(ipus, shown)``."""
    family = family_with_distinct_tiles(mapping)
    copies = len(family.repeats)
    on_ipu = family.tiles // tiles_per_ipu
    if copies == 1 and all(factor.disjoint for factor in family.factors):
        part = lowest_holder(family, shown)
        return np.where(part >= 0, on_ipu[part], -1) == np.arange(ipus)[:, None]
    found = np.zeros((ipus, len(shown)), dtype=np.bool_)
    held = np.zeros(mapping.elements, dtype=np.bool_)
    for ipu in range(ipus):
        held[:] = False
        classes = np.unique(np.flatnonzero(on_ipu == ipu) // copies)
        held[elements_of(family, classes * copies)[1]] = True
        found[ipu] = held[shown]
    return found
