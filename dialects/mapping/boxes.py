"""The elements of a part as a few strided boxes."""

from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from ipu_mlir.dialects.mapping.factors import Family
from ipu_mlir.dialects.mapping.loops import IntArray

Box: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""Offset and ``((extent, stride), ...)``: the elements ``offset + sum(stride_l * i_l)``, all different."""


@dataclass(frozen=True, eq=False)
class TileBoxes:
    """One box on each of ``tiles``: ``offsets`` of shape ``(n,)``, ``extents`` ``(n, dims)``, and a stride per dim."""

    tiles: IntArray
    offsets: IntArray
    extents: IntArray
    strides: tuple[int, ...]


def boxes_of(family: Family, parts: IntArray) -> list[TileBoxes]:
    """The elements of ``parts`` as disjoint boxes; a list entry has at most one box of each part."""
    found = []
    tiles = family.tiles[parts]
    rows = [
        tuple(np.broadcast_to(x, (len(parts), x.shape[1])) for x in family.rows(f, parts))
        for f in range(len(family.factors))
    ]
    weights = tuple(factor.weight for factor in family.factors)
    for columns in product(*(range(counts.shape[1]) for _, counts in rows)):
        extents = np.ones((len(parts), len(rows)), dtype=np.int64)
        offsets = np.full(len(parts), family.base, dtype=np.int64)
        for dim, (column, (starts, counts)) in enumerate(zip(columns, rows, strict=True)):
            extents[:, dim] = counts[:, column]
            offsets += weights[dim] * starts[:, column]
        there = extents.all(axis=1)
        if there.any():
            found.append(TileBoxes(tiles[there], offsets[there], extents[there], weights))
    return found


def boxes_of_part(family: Family, part: int) -> list[Box]:
    """The disjoint boxes of one part, in rising order of their offsets; dimensions of extent 1 are left out."""
    found = []
    for boxes in boxes_of(family, np.array([part])):
        dims = zip(boxes.extents[0].tolist(), boxes.strides, strict=True)
        found.append((int(boxes.offsets[0]), _merge_dims([x for x in dims if x[0] > 1])))
    return sorted(found)


def _merge_dims(dims: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """``(extent, stride)`` pairs, outermost first, where neighbours that count like one are one."""
    merged: list[tuple[int, int]] = []
    for extent, stride in dims:
        if merged and merged[-1][1] == extent * stride:
            extent *= merged.pop()[0]
        merged.append((extent, stride))
    return tuple(merged)
