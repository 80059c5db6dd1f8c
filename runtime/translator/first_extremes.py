"""Reductions that keep the largest (or smallest) element and, from where it came first, something else: argmax."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.runtime.translator.access import Access
from ipu_mlir.runtime.translator.combiner import combiner_of, is_neutral
from ipu_mlir.runtime.translator.emit_elementwise import temporary
from ipu_mlir.runtime.translator.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    apply,
    rewrite,
    uses_accumulator,
)
from ipu_mlir.runtime.translator.iota import INDEX, numbers
from ipu_mlir.runtime.translator.simplify import call_by_name
from ipu_mlir.runtime.translator.statements import Elementwise, FirstExtreme, Fold, Reduce, Statement
from ipu_mlir.runtime.translator.transform import parallel_extents

_BETTER = {"maximum": ("greater", "less"), "minimum": ("less", "greater")}
_MOST_COUNTED = 1 << 20  # points of the reduced loops; their places are counted when the program is translated
_KEEPS = {"greater_equal": "maximum", "less_equal": "minimum"}


@dataclass(frozen=True)
class _Choice:
    """Keep the best ``term`` in running value ``best``, and ``chosen`` from where it came first in the other one.

    ``call`` is maximum or minimum. ``restarts`` says that a NaN is always taken, and never kept.
    """

    call: str
    term: Expression
    best: int
    chosen: Expression
    restarts: bool


def kept_from_first(fold: Fold, in_memory: Callable[[Expression, list[Statement]], Access]) -> list[Statement] | None:
    """The statements that ``fold`` is, if it keeps the best value and chooses the other where a value is better.

    Args:
        in_memory: gives the access to a term that is reduced, and appends what computes it.
    """
    if len(fold.values) != 2:
        return None
    for best in (0, 1):
        choice = _where_better(fold, best) or _with_least_place(fold, best)
        if choice is not None and choice.term.dtype.kind in "fi" and is_neutral(choice.call, False, fold.inits[best]):
            return _statements(fold, choice, in_memory)
    return None


def _where_better(fold: Fold, best: int) -> _Choice | None:
    """maximum(best, term), and chosen where term > best: what torch-mlir writes."""
    matched, choice = combiner_of(fold.values[best]), fold.values[1 - best]
    if matched is None or matched[0] not in _BETTER or matched[1]:
        return None
    call, _, term = matched
    if not isinstance(choice, Apply) or choice.call != "select":
        return None
    condition, chosen, kept = choice.args
    if not _is_running(kept, 1 - best) or uses_accumulator(chosen):
        return None
    if not isinstance(condition, Apply) or condition.call not in _BETTER[call]:
        return None
    new, running = condition.args if condition.call == _BETTER[call][0] else condition.args[::-1]
    return _Choice(call, term, best, chosen, restarts=False) if new is term and _is_running(running, best) else None


def _with_least_place(fold: Fold, best: int) -> _Choice | None:
    """best >= term ? best : term, and the place with it, the least where both are equal: what XLA's argmax is."""
    value, place = fold.values[best], fold.values[1 - best]
    if not (
        isinstance(value, Apply) and value.call == "select" and isinstance(place, Apply) and place.call == "select"
    ):
        return None
    keeps, running, term = value.args
    if not isinstance(keeps, Apply) or keeps.call not in _KEEPS or not _is_running(running, best):
        return None
    (same, least, other), compared = place.args, (running, term)
    if not (isinstance(same, Apply) and same.call == "equal" and isinstance(least, Apply) and least.call == "minimum"):
        return None
    old, new = least.args
    if not (isinstance(other, Apply) and other.call == "select") or not _is_running(old, 1 - best):
        return None
    if not _are(keeps.args, compared) or not _are(same.args, compared) or not _are(other.args, (keeps, old, new)):
        return None
    if uses_accumulator(term) or not _counts_up(new, fold.inits[1 - best], fold):
        return None
    return _Choice(_KEEPS[keeps.call], term, best, new, restarts=True)


def _is_running(node: Expression, number: int) -> bool:
    return isinstance(node, Accumulator) and node.index == number


def _are(nodes: Sequence[Expression], wanted: Sequence[Expression]) -> bool:
    return all(node is each for node, each in zip(nodes, wanted, strict=True))


def _counts_up(place: Expression, init: Expression, fold: Fold) -> bool:
    """Whether ``place`` grows with every point of the reduced loops, alike everywhere, and is never below ``init``."""
    loops = [loop for loop, reduced in enumerate(fold.reduced) if reduced and fold.extents[loop] > 1]
    if not loops or not isinstance(init, Const) or prod(fold.extents[loop] for loop in loops) > _MOST_COUNTED:
        return False
    places = _known(place, [fold.extents[loop] for loop in loops], loops)
    if places is None:
        return False
    in_order = np.broadcast_to(places, [fold.extents[loop] for loop in loops]).ravel()
    return bool(in_order[0] >= init.value and (np.diff(in_order) > 0).all())


def _known(node: Expression, extents: list[int], loops: list[int]) -> np.ndarray | None:
    """The values of ``node`` at all points of ``loops``; None if they depend on anything else."""
    if isinstance(node, Const):
        return np.asarray(node.value)
    if isinstance(node, Read):
        access = node.access
        if access.buffer.value is None or not access.loops() <= set(loops):
            return None
        steps = [access.strides[loop] * node.dtype.itemsize for loop in loops]
        return as_strided(access.buffer.value[access.offset :], extents, steps)
    if not isinstance(node, Apply):
        return None
    args = [_known(arg, extents, loops) for arg in node.args]
    known = [arg for arg in args if arg is not None]
    return call_by_name(node.call, known, node.dtype) if len(known) == len(args) else None


def _statements(
    fold: Fold, choice: _Choice, in_memory: Callable[[Expression, list[Statement]], Access]
) -> list[Statement] | None:
    statements: list[Statement] = []
    source = in_memory(choice.term, statements)
    loops = [loop for loop, reduced in enumerate(fold.reduced) if reduced and fold.extents[loop] > 1]
    if not loops or not _is_one_axis(source, fold, loops):
        return None
    extents, best, other = parallel_extents(fold), choice.best, 1 - choice.best
    standing = [loop for loop, n in enumerate(extents) if n > 1]
    place = temporary(f"{fold.outputs[other].buffer.name}_place", INDEX, fold.extents, standing)
    at = Read(INDEX, place)

    def picked(term: Expression, init: Expression) -> Expression:
        (there,) = rewrite([term], lambda node: _standing(node, fold, loops, at))
        is_one = apply("greater_equal", at, Const.of(0, INDEX), dtype=np.dtype(np.bool_))
        return apply("select", is_one, there, init, dtype=there.dtype)

    where = (fold.extents, fold.origin, fold.reduced)
    function = f"first_{choice.call}_after_nan" if choice.restarts else f"first_{choice.call}"
    statements.append(FirstExtreme(*where, function, source, place))
    if choice.restarts:
        value = picked(Read(choice.term.dtype, source), fold.inits[best])
        statements.append(Elementwise(extents, fold.origin, (fold.outputs[best],), (value,)))
    else:
        statements.append(Reduce(*where, choice.call, source, fold.outputs[best]))
    value = picked(choice.chosen, fold.inits[other])
    return [*statements, Elementwise(extents, fold.origin, (fold.outputs[other],), (value,))]


def _is_one_axis(access: Access, fold: Fold, loops: list[int]) -> bool:
    """Whether the elements that are compared with each other are evenly spaced, in the order of ``loops``."""
    extents, strides = fold.extents, access.strides
    if any(strides[outer] != strides[inner] * extents[inner] for outer, inner in pairwise(loops)):
        return False
    others = [loop for loop, reduced in enumerate(fold.reduced) if not reduced and strides[loop]]
    reach = strides[loops[0]] * extents[loops[0]]
    return len(loops) == 1 or not any(strides[loops[-1]] < strides[other] < reach for other in others)


def _standing(node: Expression, fold: Fold, loops: list[int], place: Read) -> Expression:
    """``node`` at point number ``place`` of the reduced loops."""
    if not isinstance(node, Read) or not any(node.access.strides[loop] for loop in loops):
        return node
    access = node.access
    index: Expression | None = None
    for loop, digit in zip(loops, _digits(place, [fold.extents[loop] for loop in loops]), strict=True):
        if stride := access.strides[loop]:
            step = digit if stride == 1 else apply("multiply", digit, Const.of(stride, INDEX))
            index = step if index is None else apply("add", index, step)
    assert index is not None, "it moves with one of the loops"
    if access.buffer is numbers(access.buffer.elements) and access.offset == 0 and len(access.loops()) == 1:
        return index
    strides = tuple(0 if loop in loops else stride for loop, stride in enumerate(access.strides))
    reach = sum(access.strides[loop] * (fold.extents[loop] - 1) for loop in loops)
    return Gather(node.dtype, replace(access, strides=strides), index, 1, reach + 1)


def _digits(number: Expression, extents: list[int]) -> list[Expression]:
    """``number`` in the mixed base of ``extents``, most significant digit first."""
    digits: list[Expression] = []
    for extent in reversed(extents[1:]):
        base = Const.of(extent, INDEX)
        digits.insert(0, apply("remainder", number, base))
        number = apply("floor_divide", number, base)
    return [number, *digits]
