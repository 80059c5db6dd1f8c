"""Reductions that choose one of two in every step, such as argmax, in chunks that run side by side."""

from dataclasses import replace
from itertools import product
from math import isqrt, prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, temporary
from ipu_mlir.runtime.translator.array_ir.combiner import combiner_of
from ipu_mlir.runtime.translator.array_ir.evaluation import evaluated
from ipu_mlir.runtime.translator.array_ir.expression import Accumulator, Apply, Expression, Read, uses_accumulator
from ipu_mlir.runtime.translator.array_ir.statements import Fold
from ipu_mlir.runtime.translator.array_ir.transform import with_loop_split

_FEWEST_POINTS = 64  # of the reduced loop: below, the steps of one scan are no more than those of two
_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_CHOICES = ("select", "select_bool", "maximum", "minimum", "fmax", "fmin")
_LOGIC = ("bitwise_and", "bitwise_or", "bitwise_xor", "logical_and", "logical_or", "logical_not")


def in_chunks(fold: Fold) -> list[Fold]:
    """``fold``, or several in its place: one for all chunks of a reduced loop at once, and one over what they leave.

    Two are as good as one if the step is an operation * with x * (y * z) = (x * y) * z and x * y * x = x * y: then each
    chunk may begin with the initial values.
    """
    loops = [loop for loop, n in enumerate(fold.extents) if fold.reduced[loop] and n > 1]
    terms = [_term(number, value) for number, value in enumerate(fold.values)]
    if prod(fold.extents[loop] for loop in loops) < _FEWEST_POINTS or None in terms:
        return [fold]
    if not _is_safe(fold.values, [term for term in terms if term is not None]):
        return [fold]
    return _chunked(fold, loops)


def _chunked(fold: Fold, loops: list[int]) -> list[Fold]:
    """``fold``, whose reduced loops are ``loops``, by chunks; the order of the points stays."""
    if len(loops) > 1:
        first, second = _side_by_side(fold, loops[0])
        return [*_chunked(first, loops[1:]), *_chunked(second, loops[:1])]
    length = fold.extents[loops[0]]
    count = max(n for n in range(1, isqrt(length) + 1) if length % n == 0)
    if length < _FEWEST_POINTS or count == 1:
        return [fold]
    cut = with_loop_split(fold, loops[0], length // count)
    assert isinstance(cut, Fold), "a fold that is split is a fold"
    return _side_by_side(cut, loops[0])


def _term(number: int, value: Expression) -> Expression | None:
    """The term that a step chooses beside running value ``number``."""
    if isinstance(value, Apply) and value.call in ("select", "select_bool"):
        pairs = (value.args[1:], value.args[:0:-1])
    else:
        combined = combiner_of(value)
        if combined is None or combined[0] not in _CHOICES or combined[1] or not isinstance(value, Apply):
            return None
        pairs = (value.args, value.args[::-1])
    for running, other in pairs:
        if isinstance(running, Accumulator) and running.index == number and not uses_accumulator(other):
            return other
    return None


def _side_by_side(fold: Fold, loop: int) -> list[Fold]:
    """``fold`` for every point of ``loop`` by itself, and then over ``loop``."""
    kept = [n for n, reduced in enumerate(fold.reduced) if (not reduced or n == loop) and fold.extents[n] > 1]
    held: list[Access] = [
        temporary(f"{out.buffer.name}_chunks", out.buffer.dtype, fold.extents, kept) for out in fold.outputs
    ]
    alone = tuple(reduced and n != loop for n, reduced in enumerate(fold.reduced))
    found = {
        id(_term(number, value)): Read(value.dtype, access)
        for number, (value, access) in enumerate(zip(fold.values, held, strict=True))
    }
    done: dict[int, Expression] = {}
    values = tuple(_with_terms(value, found, done) for value in fold.values)
    extents = tuple(1 if left else n for n, left in zip(fold.extents, alone, strict=True))
    return [replace(fold, outputs=tuple(held), reduced=alone), replace(fold, extents=extents, values=values)]


def _with_terms(node: Expression, terms: dict[int, Read], done: dict[int, Expression]) -> Expression:
    """``node`` with other terms; what is inside a term is left alone."""
    if id(node) in terms:
        return terms[id(node)]
    if not isinstance(node, Apply):
        return node
    if id(node) not in done:
        done[id(node)] = replace(node, args=tuple(_with_terms(arg, terms, done) for arg in node.args))
    return done[id(node)]


def _is_safe(values: tuple[Expression, ...], terms: list[Expression]) -> bool:
    """True if a step has both properties.

    It only compares values with their like, so it cannot tell more of three tuples than how their values are ordered:
    trying three different numbers, and NaN, in every place is a proof.
    """
    samples = [_samples(value.dtype) for value in values]
    if not 0 < len({id(term) for term in terms}) == len(values) <= 2:
        return False
    tuples = np.array(list(product(range(max(map(len, samples))), repeat=len(values))))
    tuples = tuples[(tuples < [len(sample) for sample in samples]).all(1)]
    every = [sample[tuples[:, number]] for number, sample in enumerate(samples)]
    here = np.arange(len(tuples))
    x, y, z = ([each[at.ravel()] for each in every] for at in np.meshgrid(here, here, here, indexing="ij"))

    def step(left: list[np.ndarray], right: list[np.ndarray]) -> list[np.ndarray] | None:
        known = {id(term): array for term, array in zip(terms, right, strict=True)}
        found = [_evaluated(value, left, known) for value in values]
        return None if any(each is None for each in found) else [each for each in found if each is not None]

    xy, yz = step(x, y), step(y, z)
    if xy is None or yz is None:
        return False
    return _same(step(xy, z), step(x, yz)) and _same(step(xy, x), xy)


def _samples(dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True])
    return np.array([1, 2, 3, np.nan] if dtype.kind == "f" else [1, 2, 3]).astype(dtype)


def _same(a: list[np.ndarray] | None, b: list[np.ndarray] | None) -> bool:
    assert a is not None and b is not None, "a step that was evaluated once can be evaluated again"
    return all(np.array_equal(m, n, equal_nan=m.dtype.kind == "f") for m, n in zip(a, b, strict=True))


def _evaluated(node: Expression, running: list[np.ndarray], terms: dict[int, np.ndarray]) -> np.ndarray | None:
    """The value of ``node``; None if it does more than compare values with their like and choose between them."""
    if id(node) in terms:
        return terms[id(node)]
    if isinstance(node, Accumulator):
        return running[node.index]
    if not isinstance(node, Apply) or node.call not in (*_COMPARISONS, *_CHOICES, *_LOGIC):
        return None
    if node.call in _COMPARISONS and not _alike(node, list(terms)):
        return None
    args = [_evaluated(arg, running, terms) for arg in node.args]
    known = [arg for arg in args if arg is not None]
    return evaluated(node.call, known, node.dtype) if len(known) == len(args) else None


def _alike(comparison: Apply, terms: list[int]) -> bool:
    """True if both sides are the same running value or its term."""
    numbers = {node: number for number, node in enumerate(terms)}
    sides = {arg.index if isinstance(arg, Accumulator) else numbers.get(id(arg)) for arg in comparison.args}
    return len(sides) == 1 and None not in sides
