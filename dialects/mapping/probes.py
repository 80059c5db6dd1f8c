"""A few elements looked at in plain integers: mostly enough to see that one mapping lacks what another holds.

A planner asks that for every candidate, and the answer is nearly always that something has to move.
"""

from collections.abc import Iterator

from ipu_mlir.dialects.mapping.loops import parts_of_loop
from ipu_mlir.dialects.mapping.normalize import LoopNest


def lacks_a_probe(holder: LoopNest, held: LoopNest) -> bool:
    """True if ``holder`` lacks one of the elements of ``held`` that are looked at, on the tile where ``held`` has it.

    True is certain; False says nothing. Both are in normal form (``normalize``).
    """
    return any(holds(holder, tile, element) is False for tile, element in _probes(held))


def holds(mapping: LoopNest, tile: int, element: int) -> bool | None:
    """True if ``element`` lies on ``tile``; None where tile steps or strides are too close to be digits.

    >>> from ipu_mlir.dialects.mapping.loops import MappingLoop
    >>> pairs = (MappingLoop(2, 6, 1, 1),), 0, 0
    >>> holds(pairs, tile=1, element=3), holds(pairs, tile=1, element=4), holds(pairs, tile=3, element=0)
    (True, False, False)
    """
    loops, offset, first_tile = mapping
    if not all(loop.extent for loop in loops):
        return False
    cut = sorted((x for x, loop in enumerate(loops) if loop.block < loop.extent), key=lambda x: -loops[x].tile_step)
    counts = [(loops[x].tile_step, parts_of_loop(loops[x])) for x in cut]
    if not _are_digits(counts):
        return None
    digits = _digits(tile - first_tile, counts)
    if digits is None:
        return False
    part = dict(zip(cut, digits, strict=True))
    rest, sizes = element - offset, []
    for number, loop in enumerate(loops):
        first = loop.block * part.get(number, 0)
        rest -= loop.stride * first
        if loop.stride:
            sizes.append((loop.stride, min(loop.block, loop.extent - first)))
    return _digits(rest, sizes) is not None if _are_digits(sizes) else None


def _probes(held: LoopNest) -> Iterator[tuple[int, int]]:
    """Tile and element: the first and the last element of a part next to the first one, of the last, of the first."""
    loops, offset, first_tile = held
    if not all(loop.extent for loop in loops):
        return
    parts = [[int(at == cut) for at in range(len(loops))] for cut, loop in enumerate(loops) if loop.block < loop.extent]
    parts += [[parts_of_loop(loop) - 1 for loop in loops], [0] * len(loops)]
    for part in parts:
        tile, first, reach = first_tile, offset, 0
        for loop, number in zip(loops, part, strict=True):
            tile += loop.tile_step * number
            first += loop.stride * loop.block * number
            reach += loop.stride * (min(loop.block, loop.extent - loop.block * number) - 1)
        yield tile, first
        yield tile, first + reach


def _are_digits(places: list[tuple[int, int]]) -> bool:
    """True if each weight is larger than all behind it reach, so that a sum has one representation.

    ``places`` are the weight and the number of values of each digit, the heaviest first.
    """
    reach = 0
    for weight, count in reversed(places):
        if weight <= reach:
            return False
        reach += weight * (count - 1)
    return True


def _digits(total: int, places: list[tuple[int, int]]) -> list[int] | None:
    """The digits whose sum is ``total``, if there are any."""
    digits = []
    for weight, count in places:
        digit, total = divmod(total, weight)
        if not 0 <= digit < count:
            return None
        digits.append(digit)
    return digits if total == 0 else None
