"""Questions about the indices of results: do iterations write one element, does a slice show what they write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.affine_expressions import loops_in, values_at, without

MOST_POINTS = 1 << 24
"""Points of loops that meet in an index: more are not looked at one by one."""

Expressions = tuple[Any, ...]


@dataclass(frozen=True)
class ResultMaps:
    """The loops of an op and the indices of its results.

    Attributes:
        extents, parallel: per loop, its iterations, and whether it says that they are independent.
        maps: per result, the index of each dimension.
        shapes: per result, its sizes.
    """

    extents: tuple[int, ...]
    parallel: tuple[bool, ...]
    maps: tuple[Expressions, ...]
    shapes: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(op: ir.Operation, nest: LoopNest) -> "ResultMaps":
        maps = indexing_maps(op)
        assert maps is not None, "an op with a loop nest has indexing maps"
        outputs = tuple(tuple(each.results) for each in maps[nest.num_inputs :])
        return ResultMaps(nest.extents, nest.parallel, outputs, tuple(tuple(r.type.shape) for r in op.results))

    @property
    def single(self) -> frozenset[int]:
        """The loops of one iteration."""
        return frozenset(loop for loop, extent in enumerate(self.extents) if extent == 1)

    def loops_of(self, result: int) -> frozenset[int]:
        """The loops of several iterations that the indices of ``result`` name."""
        return frozenset().union(*map(loops_in, self.maps[result])) - self.single

    def is_plain(self, result: int) -> bool:
        """True if every dimension of ``result`` is a loop of its own; one of a single element may be 0."""
        loops = [each.position for each in self.maps[result] if isinstance(each, ir.AffineDimExpr)]
        others = [pair for pair in self._dimensions(result) if not isinstance(pair[0], ir.AffineDimExpr)]
        zeros = all(isinstance(each, ir.AffineConstantExpr) and size == 1 for each, size in others)
        return zeros and len({*loops}) == len(loops)

    def are_plain(self) -> bool:
        """True if all results are, over the same loops, and no parallel loop is missing in them."""
        loops = self.loops_of(0)
        missing = [loop for loop, parallel in enumerate(self.parallel) if parallel and loop not in loops | self.single]
        same = all(self.is_plain(result) and self.loops_of(result) == loops for result in range(len(self.maps)))
        return same and not missing

    def broken(self, result: int) -> str | None:
        """Why nobody can say what ``result`` is, as the end of a sentence."""
        free = [loop for loop, p in enumerate(self.parallel) if p and loop not in self.loops_of(result) | self.single]
        if free:
            return self._written_twice(result, free[0])
        for loops, dimensions in self.meeting(result, frozenset()):
            expressions = [self.maps[result][d] for d in dimensions]
            if len(loops) == len(dimensions) == 1 and isinstance(expressions[0], ir.AffineDimExpr):
                continue
            count = prod(self.extents[loop] for loop in loops)
            if count > MOST_POINTS:
                return (
                    f"indexes result {result} by {count:,} points of {len(loops)} loops that meet there, at most "
                    f"{MOST_POINTS:,}; cut it into ops with fewer iterations"
                )
            wrong = self._shared_loop(result, loops, dimensions)
            if wrong is not None:
                return self._written_twice(result, wrong)
        return None

    def outside(self, what: str, expressions: Expressions, shape: Sequence[int]) -> str | None:
        """The element, which is not there, that an operand or result is indexed at, as the end of a sentence."""
        for dimension, (expression, size) in enumerate(zip(expressions, shape, strict=True)):
            loops = sorted(loops_in(expression))
            if isinstance(expression, ir.AffineDimExpr) or prod(self.extents[loop] for loop in loops) > MOST_POINTS:
                continue  # MLIR has looked at the ends of what is linear
            found = np.asarray(values_at(expression, self._points(loops)))
            if found.min() < 0 or found.max() >= size:
                at = int(found.min() if found.min() < 0 else found.max())
                return (
                    f"{what.format(f'element {at} of dimension {dimension}')}, which has {size}; "
                    "give it a larger size or change its index"
                )
        return None

    def meeting(self, result: int, fixed: frozenset[int]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The loops of ``result`` that are not ``fixed``, those that meet in an index together, with its dimensions."""
        groups: list[tuple[set[int], list[int]]] = []
        for dimension, expression in enumerate(self.maps[result]):
            loops = {*loops_in(expression)} - self.single - fixed
            if not loops:
                continue
            joined = [group for group in groups if group[0] & loops]
            groups = [group for group in groups if not group[0] & loops]
            dimensions = [d for _, each in joined for d in each]
            groups.append((loops.union(*(each for each, _ in joined)), sorted([*dimensions, dimension])))
        for found, dimensions in groups:
            yield tuple(sorted(found)), tuple(dimensions)

    def is_one_to_one(self, result: int, loops: Sequence[int], dimensions: Sequence[int]) -> bool:
        """True if different points of ``loops`` are different elements along ``dimensions``."""
        if self.is_sliced(result, dimensions, frozenset()) and len(loops) == 1:
            return True
        places = self._places(result, loops, dimensions)
        return len(np.unique(places)) == places.size

    def is_sliced(self, result: int, dimensions: Sequence[int], fixed: frozenset[int]) -> bool:
        """True if a slice with steps shows what is written along ``dimensions`` while ``fixed`` loops are fixed."""
        seen: list[int] = []
        for dimension in dimensions:
            terms = without(self.maps[result][dimension], fixed | self.single)
            if terms is None or len(terms[0]) > 1 or min(terms[0].values(), default=1) < 0:
                return False
            seen += terms[0]
        return len({*seen}) == len(seen)

    def _dimensions(self, result: int) -> list[tuple[Any, int]]:
        return list(zip(self.maps[result], self.shapes[result], strict=True))

    def _points(self, loops: Sequence[int]) -> list[Any]:
        """The numbers of each of ``loops`` along an axis of its own; others are at 0."""
        points: list[Any] = [np.int64(0)] * len(self.extents)
        for loop, grid in zip(loops, np.ix_(*(np.arange(self.extents[loop]) for loop in loops)), strict=True):
            points[loop] = grid
        return points

    def values(self, result: int, dimension: int, loops: Sequence[int]) -> np.ndarray:
        """The index of ``dimension`` at every point of ``loops``, one axis for each."""
        found = values_at(self.maps[result][dimension], self._points(loops))
        return np.broadcast_to(found, tuple(self.extents[loop] for loop in loops))

    def _places(self, result: int, loops: Sequence[int], dimensions: Sequence[int]) -> np.ndarray:
        """One number per element that the points of ``loops`` write, as far as ``dimensions`` tell it."""
        sizes = tuple(self.shapes[result][d] for d in dimensions)
        return np.ravel_multi_index([self.values(result, d, loops) for d in dimensions], sizes)

    def _shared_loop(self, result: int, loops: Sequence[int], dimensions: Sequence[int]) -> int | None:
        """A parallel loop of which two iterations write one element."""
        parallel = [loop for loop in loops if self.parallel[loop]]
        if not parallel or self.is_one_to_one(result, loops, dimensions):
            return None
        places = self._places(result, loops, dimensions)
        first = np.full(places.max() + 1, -1)
        for loop in parallel:
            axis = [-1 if other == loop else 1 for other in loops]
            numbers = np.broadcast_to(np.arange(self.extents[loop]).reshape(axis), places.shape)
            first[places.ravel()] = numbers.ravel()
            if (first[places] != numbers).any():
                return loop
        return None

    @staticmethod
    def _written_twice(result: int, loop: int) -> str:
        return (
            f"writes one element of result {result} in several iterations of loop {loop}, which is parallel; "
            "say that the loop is a reduction, or give the result a dimension for it"
        )
