"""Mapping: which tile holds which elements of one allocation."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ipu_mlir.dialects.mapping import cover, enumeration, normalize
from ipu_mlir.dialects.mapping.boxes import Box, boxes_of_part
from ipu_mlir.dialects.mapping.factors import Family, family_of
from ipu_mlir.dialects.mapping.loops import AnyArray, IntArray, MappingLoop
from ipu_mlir.dialects.mapping.on_tiles import OnTiles
from ipu_mlir.dialects.mapping.overlap import count_on_same_tiles, count_on_same_tiles_by_element
from ipu_mlir.dialects.mapping.probes import lacks_a_probe
from ipu_mlir.dialects.mapping.refine import refine
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.pictures import grid, strip, title

_PICTURED = 240
"""Elements that a picture shows at most."""


@dataclass(frozen=True)
class Mapping(OnTiles):
    """Elements of an allocation by their row-major index, spread over tiles.

    Part ``(p_0, p_1, ...)`` lies on tile ``first_tile + sum(tile_step_l * p_l)`` and holds the elements
    ``{offset + sum(stride_l * i_l)}``, ``i_l`` in block ``p_l`` of loop ``l``. At most one part lies on a tile.

    Queries are vectorised over tiles and computed in closed form; ``overlap`` and what rests on it look at single
    elements where the digits of two mappings do not fit together (``overlap.common_cuts``). All of them ask for a
    well-formed mapping; those about elements raise ``CompileError`` if two parts lie on one tile.

    >>> rows = Mapping(12, (MappingLoop(2, 3, 4, 1), MappingLoop(4, 4, 1, 0)))
    >>> rows.normalized()
    Mapping(elements=12, loops=(MappingLoop(block=8, extent=12, stride=1, tile_step=1),), offset=0, first_tile=0)
    >>> [x.tolist() for x in rows.elements_per_tile()]
    [[0, 1], [8, 4]]
    """

    elements: int
    loops: tuple[MappingLoop, ...] = ()
    offset: int = 0
    first_tile: int = 0

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: mappings are what most questions below are remembered by."""
        return hash((self.elements, self.loops, self.offset, self.first_tile))

    def _repr_html_(self) -> str:
        """For notebooks: the elements in their order, each in the color of its tile, and how many each tile holds."""
        tiles, counts = self.elements_per_tile()
        sampled = np.linspace(0, max(0, self.elements - 1), min(self.elements, _PICTURED), dtype=np.int64)
        heading = f"{self.elements:,} elements on {len(tiles):,} tiles from {self.min_tile} to {self.max_tile}"
        owners = grid([self.tile_of(sampled).tolist()], width=480) if self.elements else ""
        return title(heading) + owners + strip(counts.tolist(), int(counts.max(initial=0)), what="holder")

    def normalized(self) -> "Mapping":
        """The canonical form: the same elements on the same tiles in as many parts; often equal if they are the same.

        See ``normalize.normalize`` for what is canonical.
        """
        return self._normal

    @cached_property
    def _normal(self) -> "Mapping":
        return _normalized(self)

    def is_well_formed(self) -> bool:
        """True if blocks are at least 1, extents and elements not negative; every other query takes it for granted."""
        return self.elements >= 0 and super().is_well_formed()

    @property
    def first_element(self) -> int:
        """The lowest element index that a part holds."""
        return self.offset + sum(min(0, x.stride * (x.extent - 1)) for x in self.loops)

    @property
    def last_element(self) -> int:
        """The highest element index that a part holds."""
        return self.offset + sum(max(0, x.stride * (x.extent - 1)) for x in self.loops)

    def in_bounds(self) -> bool:
        """True if every element that a part holds is one of ``0 .. elements - 1``."""
        return self.num_parts == 0 or (self.first_element >= 0 and self.last_element < self.elements)

    def elements_per_tile(self) -> tuple[IntArray, IntArray]:
        """The tiles in rising order, and how many different elements each holds."""
        return _elements_per_tile(self)

    def tile_of(self, indices: AnyArray) -> IntArray:
        """The tile that holds each element, the lowest one if there are several; -1 where none does."""
        family = family_with_distinct_tiles(self)
        flat = np.asarray(indices, dtype=np.int64)
        part = enumeration.lowest_holder(family, flat.reshape(-1))
        tiles = np.full(part.shape, -1, dtype=np.int64)
        tiles[part >= 0] = family.tiles[part[part >= 0] * len(family.repeats)]
        return tiles.reshape(flat.shape)

    def is_disjoint(self) -> bool:
        """True if no element lies on two tiles."""
        return _is_disjoint(self)

    def covers(self) -> bool:
        """True if every element of the allocation lies on some tile, and nothing else does."""
        return self.in_bounds() and cover.union_size(_family(self)) == self.elements

    def is_home(self) -> bool:
        """True if every element of the allocation lies on exactly one tile, in one part per tile."""
        return _is_home(self)

    def boxes(self, tile: int) -> list[Box]:
        """The elements on ``tile``, as disjoint boxes ``(offset, ((extent, stride), ...))``; empty if none."""
        family = family_with_distinct_tiles(self)
        part = int(family.parts_on(np.array([tile]))[0])
        return boxes_of_part(family, part) if part >= 0 else []

    def elements_on(self, tile: int) -> IntArray:
        """The elements that ``tile`` holds, in rising order; empty if it holds none."""
        family = family_with_distinct_tiles(self)
        part = family.parts_on(np.array([tile]))
        return enumeration.elements_of(family, part[part >= 0])[1]

    def overlap(self, other: "Mapping") -> tuple[IntArray, IntArray]:
        """The tiles of ``other`` in rising order, and how many of its elements ``self`` holds on the same tile."""
        return _overlap(self, other)

    def contains(self, other: "Mapping") -> bool:
        """True if ``self`` holds on every tile at least what ``other`` holds there."""
        return self._normal == other._normal or _contains(self, other)

    def missing(self, other: "Mapping") -> tuple[int, int] | None:
        """The lowest tile on which ``self`` lacks something of ``other``, and the lowest such element; or None."""
        tiles, counts = self.overlap(other)
        lacking = np.flatnonzero(counts < other.elements_per_tile()[1])
        if not len(lacking):
            return None
        tile = int(tiles[lacking[0]])
        return tile, int(np.setdiff1d(other.elements_on(tile), self.elements_on(tile))[0])


@lru_cache(maxsize=1024)
def _normalized(mapping: Mapping) -> Mapping:
    return Mapping(mapping.elements, *normalize.normalize(mapping.loops, mapping.offset, mapping.first_tile))


def _family(mapping: Mapping) -> Family:
    normal = mapping.normalized()
    return family_of(normal.loops, normal.offset, normal.first_tile)


def family_with_distinct_tiles(mapping: Mapping) -> Family:
    """The parts of ``mapping`` as factors; raises ``CompileError`` if two of them lie on one tile."""
    if not mapping.tiles_are_distinct():
        raise CompileError(
            f"{mapping} has two parts on one tile; give each loop with several parts its own tile step, larger than "
            "the tiles that the loops of smaller steps take together"
        )
    return _family(mapping)


def _by_tile(family: Family, counts: IntArray) -> tuple[IntArray, IntArray]:
    tiles = family.tiles
    counts = np.broadcast_to(counts, tiles.shape)
    if len(tiles) > 1 and not (tiles[1:] > tiles[:-1]).all():
        order = np.argsort(tiles, kind="stable")
        tiles, counts = tiles[order], counts[order]
    tiles, counts = tiles.view(), counts.view()
    tiles.flags.writeable = counts.flags.writeable = False  # they are cached
    return tiles, counts


@lru_cache(maxsize=128)
def _elements_per_tile(mapping: Mapping) -> tuple[IntArray, IntArray]:
    family = family_with_distinct_tiles(mapping)
    return _by_tile(family, family.sizes)


@lru_cache(maxsize=1024)
def _is_disjoint(mapping: Mapping) -> bool:
    return cover.is_disjoint(family_with_distinct_tiles(mapping))


@lru_cache(maxsize=1024)
def _contains(holder: Mapping, held: Mapping) -> bool:
    if held.tiles_are_distinct() and lacks_a_probe(_nest(holder), _nest(held)):
        return False
    return bool((_overlap(holder, held)[1] == _elements_per_tile(held)[1]).all())


def _nest(mapping: Mapping) -> normalize.LoopNest:
    normal = mapping.normalized()
    return normal.loops, normal.offset, normal.first_tile


@lru_cache(maxsize=1024)
def _is_home(mapping: Mapping) -> bool:
    return mapping.tiles_are_distinct() and mapping.is_disjoint() and mapping.covers()


@lru_cache(maxsize=128)
def _overlap(holder: Mapping, held: Mapping) -> tuple[IntArray, IntArray]:
    if holder.normalized() == held.normalized():
        return held.elements_per_tile()
    a, b = (family_with_distinct_tiles(x) for x in (holder, held))
    counts = count_on_same_tiles(a, b)
    if counts is not None:
        return _by_tile(b, counts)
    strides = {loop.stride for x in (holder, held) for loop in x.normalized().loops if loop.stride > 0}
    fine_a, fine_b = (cut_at(x, strides) for x in (holder, held))
    counts = count_on_same_tiles(fine_a, fine_b)
    if counts is not None:
        return _by_tile(fine_b, counts)
    return _by_tile(b, count_on_same_tiles_by_element(a, b))


def cut_at(mapping: Mapping, strides: set[int]) -> Family:
    """The parts of ``mapping``, with loops cut in two at ``strides`` where that is possible."""
    normal = mapping.normalized()
    return family_of(refine(normal.loops, strides), normal.offset, normal.first_tile)
