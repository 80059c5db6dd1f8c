"""How many of several IPUs an operation takes, and what goes over the links between them for it."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.dialects.analysis.index import plain_index
from ipu_mlir.dialects.costs.exchange import estimated_cycles_of_links
from ipu_mlir.dialects.machine.links import link_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.selection import physical_ipus
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.passes.placement.planner.balanced import Balanced
from ipu_mlir.passes.placement.planner.candidates import Candidate
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation

_MOST_OF_SHARE = 2
_COMPARED = 20  # candidates on each number of IPUs whose links are looked at


def numbers_of_ipus(least: int, ipus: int) -> list[int]:
    """How many of ``ipus`` are tried, at least ``least``: all of them, powers of two, and three times those.

    >>> numbers_of_ipus(1, 16), numbers_of_ipus(3, 5), numbers_of_ipus(9, 8)
    ([1, 2, 3, 4, 6, 8, 12, 16], [3, 4, 5], [8])
    """
    powers = [1 << power for power in range(ipus.bit_length())]
    return [count for count in sorted((*powers, *(3 * each for each in powers))) if least <= count < ipus] + [ipus]


def ipus_for(total_bytes: int, target: Target) -> int:
    """The fewest IPUs of which the half holds ``total_bytes``, all tensors of a program; those there are at most.

    >>> ipus_for(200, Target(ipus=4, tiles_per_ipu=1, bytes_per_tile=100))
    4
    """
    half = target.tiles_per_ipu * target.bytes_per_tile // 2
    return min(target.ipus, max(1, -(-total_bytes // half)))


def ipus_of(mapping: Mapping | Parts, target: Target) -> int:
    """How many IPUs, from the first one, have a tile of ``mapping``."""
    return min(target.ipus, max(0, mapping.max_tile) // target.tiles_per_ipu + 1)


def with_links(
    operation: Operation, candidates: list[Candidate], part: Target, target: Target, others: Sequence[Candidate]
) -> list[Candidate]:
    """Those of ``candidates`` that may be the best, with the cycles of their links.

    Args:
        part: the IPUs that the candidates take, of all of ``target``.
        others: candidates that are known already; what costs more without links is not looked at.
    """
    bound = min((each.total for each in others if each.fits), default=None)
    found: list[Candidate] = []
    for each in sorted(candidates, key=lambda one: (not one.fits, one.total))[:_COMPARED]:
        if bound is not None and each.total >= bound:
            continue
        found.append(replace(each, links=_links(operation, each.parts, part, target)))
        if found[-1].fits:
            bound = min(found[-1].total, bound or found[-1].total)
    return found


def spread(use: OperandUse, parts: Parts, target: Target) -> Mapping:
    """Where an operand of which several parts need the same lies: shared out among those, or over all of ``target``."""
    found = _shared_out(use, parts)
    if found is not None and found.is_home() and _is_even(found, parts):
        return found
    shape = use.shape if prod(use.shape) == use.elements else (use.elements,)
    indices = tuple(plain_index(dimension, len(shape)) for dimension in range(len(shape)))
    memory = OperandUse(indices, shape, View.whole(shape).strides, 0, use.elements, use.element_bytes)
    everywhere = Balanced()(Operation("ipu.home", "home", shape, (True,) * len(shape), (), (memory,)), target)
    return memory.needed(everywhere)


def _is_even(home: Mapping, parts: Parts) -> bool:
    """True if no tile of ``parts`` holds much more than its share, as where some have no piece of what they need."""
    return int(home.elements_per_tile()[1].max()) * parts.num_parts <= _MOST_OF_SHARE * home.elements


def _shared_out(use: OperandUse, parts: Parts) -> Mapping | None:
    """A home in which parts that need the same blocks of ``use`` hold a piece of them each; None if its form has none.

    Of an allocation of which ``use`` is a block, as in steps, all others lie alike.
    """
    loops = [index.plain_loop for index in use.indices]
    if any(loop is None for loop in loops) or not use.elements:
        return None
    own = [parts.loops[loop] for loop in loops if loop is not None]
    cuts = [[loop.block, loop.extent, loop.tile_step] for loop in own]
    counts = zip(parts.loops, parts.parts_per_loop, strict=True)
    others = [(count, loop.tile_step) for loop, count in counts if count > 1 and loop not in own]
    for count, step in sorted(others, reverse=True):
        whole = [cut for cut in cuts if cut[0] >= cut[1] >= count]
        if whole:
            widest = max(whole, key=lambda cut: cut[1])
            widest[0], widest[2] = -(-widest[1] // count), step
    mapped = [
        MappingLoop(block, extent, stride, step)
        for (block, extent, step), stride in zip(cuts, use.strides, strict=True)
    ]
    above = use.elements
    for size, stride in zip(use.shape, use.strides, strict=True):
        times, rest = divmod(above, size * stride)
        if rest:
            return None
        mapped.append(MappingLoop(times, times, size * stride, 0))
        above = stride
    return Mapping(use.elements, tuple(mapped), 0, parts.first_tile).normalized() if above == 1 else None


def _links(operation: Operation, parts: Parts, part: Target, target: Target) -> int:
    """Cycles on the links for what ``parts`` read and for their partial results, with a sync for each exchange."""
    each = [_links_of_operand(use, parts, part, target) for use in operation.reads]
    each.append(_links_of_partials(operation, parts, part))
    return sum(cycles + machine_of(target).external_sync_cycles for cycles in each if cycles)


def _links_of_operand(use: OperandUse, parts: Parts, part: Target, target: Target) -> int:
    needed, home = use.needed(parts), use.home
    if home is None:
        if part.ipus == 1 or needed.is_home():
            return 0
        home = spread(use, parts, part)
    last = max(home.max_tile, needed.max_tile)
    if last < target.tiles_per_ipu:
        return 0
    target = part if last < part.num_tiles else target
    flat = View.whole((use.elements,))
    found = estimated_cycles_of_links((home, flat), (needed, flat), use.element_bytes, target)
    if found is not None:
        return found
    return _all_to_all(prod(use.shape) * use.element_bytes, part)  # every IPU is taken to need all of it


def _links_of_partials(operation: Operation, parts: Parts, part: Target) -> int:
    """Partial results on several IPUs are taken to be combined by all of them; those next to an edge, half by each."""
    loops = list(zip(parts.loops, parts.parts_per_loop, operation.parallel, strict=True))
    reduced = [(loop.tile_step * (count - 1), count) for loop, count, parallel in loops if not parallel]
    times = prod(count for _, count in reduced)
    if part.ipus == 1 or times == 1:
        return 0
    size = times * sum(prod(use.shape) * use.element_bytes for use in operation.outputs)
    if sum(span for span, _ in reduced) >= part.tiles_per_ipu:
        return _all_to_all(size // part.ipus, part)
    outer, outer_count, _ = max(loops, key=lambda each: each[0].tile_step)
    if part.tiles_per_ipu % outer.tile_step == 0:
        return 0
    next_to = np.eye(part.ipus, k=1, dtype=np.int64) + np.eye(part.ipus, k=-1, dtype=np.int64)
    return link_cycles(next_to * (size // outer_count // 4), physical_ipus(part), machine_of(part))


def _all_to_all(bytes_received: int, part: Target) -> int:
    """Cycles in which each IPU receives so much, from all others alike."""
    if part.ipus == 1:
        return 0
    between = np.full((part.ipus, part.ipus), bytes_received // part.ipus, dtype=np.int64)
    np.fill_diagonal(between, 0)
    return link_cycles(between, physical_ipus(part), machine_of(part))
