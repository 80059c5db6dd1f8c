"""One form for the many ways to write the same mapping."""

from typing import TypeAlias

from ipu_mlir.dialects.mapping.loops import MappingLoop, parts_of_loop

LoopNest: TypeAlias = tuple[tuple[MappingLoop, ...], int, int]
"""Loops, offset and first tile of a mapping."""


def normalize(loops: tuple[MappingLoop, ...], offset: int, first_tile: int) -> LoopNest:
    """The canonical loops, offset and first tile of a mapping: same elements on the same tiles, same number of parts.

    Loops come in order of falling stride, repeats (stride 0) last. A loop in one part has ``block == extent`` and
    ``tile_step == 0``; what repeats is ``[1, repeats, 0, tile_step]``; strides are positive unless the last block is
    ragged; loops of one iteration are gone, and neighbours that together count like one loop are one loop.
    """
    if any(loop.extent == 0 for loop in loops):
        return (MappingLoop(1, 0, 0, 0),), 0, 0
    simple: list[MappingLoop] = []
    for loop in loops:
        loop, loop_offset, loop_tile = _simplify(loop)
        offset, first_tile = offset + loop_offset, first_tile + loop_tile
        if loop.extent > 1:
            simple.append(loop)
    return tuple(_merge_all(simple)), offset, first_tile


def _simplify(loop: MappingLoop) -> tuple[MappingLoop, int, int]:
    """``loop`` in its own simplest form, and what that adds to the offset and to the first tile."""
    parts = parts_of_loop(loop)
    if loop.stride == 0:
        if loop.tile_step < 0:
            return MappingLoop(1, parts, 0, -loop.tile_step), 0, loop.tile_step * (parts - 1)
        return MappingLoop(1, parts, 0, loop.tile_step if parts > 1 else 0), 0, 0
    if parts == 1:
        loop = MappingLoop(loop.extent, loop.extent, loop.stride, 0)
    if loop.stride < 0 and loop.extent % loop.block == 0:
        flipped = MappingLoop(loop.block, loop.extent, -loop.stride, -loop.tile_step)
        return flipped, loop.stride * (loop.extent - 1), loop.tile_step * (parts - 1)
    return loop, 0, 0


def _order(loop: MappingLoop) -> tuple[int, ...]:
    return (-abs(loop.stride), -loop.stride, -abs(loop.tile_step), -loop.tile_step, loop.extent, loop.block)


def _merge_all(loops: list[MappingLoop]) -> list[MappingLoop]:
    """Merge pairs of loops until no pair can be merged; the result is sorted."""
    loops = sorted(loops, key=_order)
    for i, outer in enumerate(loops):
        for j, inner in enumerate(loops):
            if i == j or abs(outer.stride) < abs(inner.stride):
                continue  # the outer loop has the larger stride, if they can be merged at all
            merged = _merge(outer, inner)
            if merged is not None:
                return _merge_all([merged, *(loop for k, loop in enumerate(loops) if k not in (i, j))])
    return loops


def _merge(outer: MappingLoop, inner: MappingLoop) -> MappingLoop | None:
    """The one loop that does what ``outer`` around ``inner`` does, if there is one."""
    inner_parts = parts_of_loop(inner)
    chained = outer.tile_step == inner_parts * inner.tile_step
    if outer.stride == inner.stride == 0:
        return MappingLoop(1, outer.extent * inner.extent, 0, inner.tile_step) if chained else None
    if inner.stride <= 0 or outer.stride <= 0 or outer.stride % inner.stride:
        return None
    ratio = outer.stride // inner.stride
    if inner_parts == 1 and parts_of_loop(outer) == 1 and ratio <= inner.extent:
        extent = inner.extent + ratio * (outer.extent - 1)
        return MappingLoop(extent, extent, inner.stride, 0)
    if ratio != inner.extent:
        return None
    if inner_parts == 1:
        return MappingLoop(outer.block * ratio, outer.extent * ratio, inner.stride, outer.tile_step)
    if outer.block == 1 and inner.extent % inner.block == 0 and chained:
        return MappingLoop(inner.block, outer.extent * ratio, inner.stride, inner.tile_step)
    return None
