"""Shifts: operands that show one tensor from several places on, as the terms of a stencil do.

What they bring overlaps but for an edge. They are brought at once, as one box around what each part touches.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ipu_mlir.dialects.mapping.loops import MappingLoop
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.operation import OperandUse


def shifted_groups(uses: Sequence[OperandUse]) -> list[tuple[int, ...]]:
    """The numbers of ``uses`` that differ in where they begin, and in nothing else, in groups of several."""
    groups: dict[OperandUse, list[int]] = defaultdict(list)
    for number, use in enumerate(uses):
        if use.home is not None and use.root is not None and min(use.strides, default=1) > 0:
            groups[replace(use, offset=_rest(use))].append(number)
    found = [tuple(numbers) for numbers in groups.values()]
    return [each for each in found if len({uses[number].offset for number in each}) > 1]


def box_around(uses: Sequence[OperandUse], parts: Parts) -> Mapping | None:
    """What ``parts`` touch through all of ``uses``, which are shifts of each other, in one box for each part.

    None where that takes as much as what is brought for each of them alone.
    """
    first = [min(digits) for digits in zip(*(_digits(use.offset, use.strides) for use in uses), strict=True)]
    corner = _rest(uses[0]) + sum(digit * stride for digit, stride in zip(first, uses[0].strides, strict=True))
    one = replace(uses[0], offset=corner).needed(parts)
    windows = zip(spans_of(uses), uses[0].strides, strict=True)
    loops = (MappingLoop(span + 1, span + 1, stride, 0) for span, stride in windows if span)
    box = replace(one, loops=(*one.loops, *loops)).normalized()
    apart = [use.needed(parts) for use in uses]
    brought = [each for each, use in zip(apart, uses, strict=True) if use.home is None or not use.home.contains(each)]
    if not box.in_bounds() or largest(box) >= sum(map(largest, brought)):
        return None
    return box


def spans_of(uses: Sequence[OperandUse]) -> tuple[int, ...]:
    """In each dimension, how far apart the first and the last of ``uses`` begin."""
    begins = [_digits(use.offset, use.strides) for use in uses]
    return tuple(max(digits) - min(digits) for digits in zip(*begins, strict=True))


def largest(mapping: Mapping) -> int:
    """The elements that the fullest tile holds."""
    return int(mapping.elements_per_tile()[1].max(initial=0))


def largest_missing(home: Mapping, needed: Mapping) -> int:
    """The most elements of ``needed`` that a tile lacks of what ``home`` has there.

    >>> from ipu_mlir.dialects.mapping.build import linear
    >>> shifted = Mapping(8, (MappingLoop(2, 7, 1, 1),), offset=1)
    >>> largest_missing(linear(8, 4), shifted)
    1
    """
    return int((needed.elements_per_tile()[1] - home.overlap(needed)[1]).max(initial=0))


def _digits(offset: int, strides: Sequence[int]) -> list[int]:
    """How many steps of each stride lead to ``offset``, the largest ones first.

    >>> _digits(8001, (8000, 1))
    [1, 1]
    """
    digits = [0] * len(strides)
    for dimension in sorted(range(len(strides)), key=lambda each: -strides[each]):
        digits[dimension], offset = divmod(offset, strides[dimension])
    return digits


def _rest(use: OperandUse) -> int:
    """What of the offset is no step of a stride."""
    steps = zip(_digits(use.offset, use.strides), use.strides, strict=True)
    return use.offset - sum(digit * stride for digit, stride in steps)
