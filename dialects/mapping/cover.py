"""The values of a factor that several parts share, that one part has alone, and that nobody has."""

from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.dialects.mapping.factors import Factor, Family, one_interval
from ipu_mlir.dialects.mapping.loops import IntArray


def stretches(factor: Factor) -> tuple[IntArray, IntArray, IntArray]:
    """Stretches of values that the same parts hold: begins, number of holders, and sum of the holders' indices.

    The last begin is the end of all, with no holder.
    """
    held = factor.counts.reshape(-1) > 0
    starts = factor.starts.reshape(-1)[held]
    stops = starts + factor.counts.reshape(-1)[held]
    owners = np.repeat(np.arange(len(factor.tiles)), factor.starts.shape[1])[held]
    edges = np.unique(np.concatenate((starts, stops)))
    first, last = np.searchsorted(edges, starts), np.searchsorted(edges, stops)
    change = np.bincount(first, minlength=len(edges)) - np.bincount(last, minlength=len(edges))
    owner_change = np.bincount(first, owners, len(edges)) - np.bincount(last, owners, len(edges))
    return edges, np.cumsum(change), np.cumsum(owner_change.astype(np.int64))


def is_disjoint(family: Family) -> bool:
    """True if no two parts hold one element."""
    if len(family.repeats) > 1:
        return False
    return all(factor.disjoint for factor in family.factors)


def union_size(family: Family) -> int:
    """The number of elements that all parts together hold."""
    if family.num_parts == 0:
        return 0
    return prod(int(x.sizes.sum() if x.disjoint else _union(x).sizes[0]) for x in family.factors)


def union(family: Family) -> Family:
    """One part that holds what all parts of ``family`` hold."""
    return replace(family, factors=tuple(_union(x) for x in family.factors), repeats=np.zeros(1, dtype=np.int64))


def _union(factor: Factor) -> Factor:
    if factor.disjoint and factor.sizes.sum() == factor.span + 1:
        return one_interval(factor.weight, factor.span + 1)
    edges, holders, _ = stretches(factor)
    covered = np.concatenate(([0], (holders > 0).astype(np.int64)))
    if not covered.any():
        return one_interval(factor.weight, 0)
    begins = edges[np.diff(covered) == 1]
    ends = edges[np.diff(covered) == -1]
    return Factor(
        factor.weight, factor.span, begins[None, :], (ends - begins)[None, :], np.zeros(1, dtype=np.int64), True
    )


def exclusive(family: Family) -> Family:
    """The same parts, each with only those elements that no other part has; repeats are left out."""
    factors = tuple(x if x.disjoint else _exclusive(x) for x in family.factors)
    return replace(family, factors=factors, repeats=np.zeros(1, dtype=np.int64))


def _exclusive(factor: Factor) -> Factor:
    edges, holders, owner_sum = stretches(factor)
    alone = np.flatnonzero(holders == 1)
    owner = owner_sum[alone]  # the one holder
    order = np.argsort(owner, kind="stable")
    alone, owner = alone[order], owner[order]
    per_owner = np.bincount(owner, minlength=len(factor.tiles))
    column = np.arange(len(owner)) - (np.cumsum(per_owner) - per_owner)[owner]
    starts = np.zeros((len(factor.tiles), max(1, int(per_owner.max(initial=0)))), dtype=np.int64)
    counts = np.zeros_like(starts)
    starts[owner, column] = edges[alone]
    counts[owner, column] = edges[alone + 1] - edges[alone]
    return Factor(factor.weight, factor.span, starts, counts, factor.tiles, True)
