"""Reductions that keep the largest (or smallest) element and, from where it came first, something else: argmax."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Literal, TypeGuard

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, temporary
from ipu_mlir.runtime.translator.array_ir.combiner import combiner_of, is_neutral
from ipu_mlir.runtime.translator.array_ir.expression import (
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
from ipu_mlir.runtime.translator.array_ir.iota import INDEX, numbers
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, FirstExtreme, Fold, Reduce, Statement
from ipu_mlir.runtime.translator.array_ir.transform import parallel_extents
from ipu_mlir.runtime.translator.optimize.simplify import call_by_name

_BETTER = {"maximum": ("greater", "less"), "minimum": ("less", "greater")}
_MOST_COUNTED = 1 << 20  # points of the reduced loops; their places are counted when the program is translated
_KEEPS = {"greater_equal": "maximum", "less_equal": "minimum"}


@dataclass(frozen=True)
class _Choice:
    """Keep the best ``term`` in running value ``best``, and ``chosen`` from where it came first in the other one.

    ``call`` is maximum or minimum. ``nan`` is what happens to a NaN: ``skipped``; ``restarts``, it is always taken and
    never kept; ``kept``, the first one stays. Then the last of equal values is kept, but from where the first one came.
    """

    call: str
    term: Expression
    best: int
    chosen: Expression
    nan: Literal["skipped", "restarts", "kept"]


def kept_from_first(
    fold: Fold, in_memory: Callable[[Expression, list[Statement]], Access], is_read: Callable[[Buffer], bool]
) -> list[Statement] | None:
    """The statements that ``fold`` is, if it keeps the best value and chooses the other where a value is better.

    Args:
        in_memory: gives the access to a term that is reduced, and appends what computes it.
        is_read: whether anybody reads a buffer.
    """
    if len(fold.values) != 2:
        return None
    for best in (0, 1):
        choice = _where_better(fold, best) or _with_least_place(fold, best) or _with_first_nan(fold, best)
        if choice is None:
            continue
        if choice.nan == "kept" and choice.term.dtype.kind == "f" and is_read(fold.outputs[best].buffer):
            return None  # of 0 and -0 the value is the last one
        if choice.term.dtype.kind in "fi" and is_neutral(choice.call, False, fold.inits[best]):
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
    return _Choice(call, term, best, chosen, nan="skipped") if new is term and _is_running(running, best) else None


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
    return _Choice(_KEEPS[keeps.call], term, best, new, nan="restarts")


def _with_first_nan(fold: Fold, best: int) -> _Choice | None:
    """The better of both, or best where that is NaN, and the least place where both are equal: what JAX writes."""
    value, place = fold.values[best], fold.values[1 - best]
    if not (isinstance(value, Apply) and _calls(place, "select")) or len(value.args) < 2:
        return None
    kept, old, new = place.args
    keeps, (running, term) = (value.args[0], value.args[1:]) if value.call == "select" else (None, value.args)
    if not _is_running(running, best) or not _is_running(old, 1 - best) or uses_accumulator(term):
        return None
    ties = [test for test in _either(kept) if _calls(test, "bitwise_and", "logical_and")]
    others = [test for test in _either(kept) if test not in ties]
    if len(ties) != 1 or not _is_earlier_tie(ties[0], running, term, old, new):
        return None
    if keeps is not None and {id(test) for test in _either(keeps)} != {id(test) for test in others}:
        return None
    found = {_order(test, running, term) for test in others}
    call = next((call for call in found if call in _BETTER), None)
    if keeps is None and (term.dtype.kind != "i" or value.call != call):
        return None
    if call is None or found - {call, "nan"} or (term.dtype.kind == "f" and "nan" not in found):
        return None
    if not _counts_up(new, fold.inits[1 - best], fold, from_init=True):
        return None
    return _Choice(call, term, best, new, nan="kept")


def _order(test: Expression, running: Expression, term: Expression) -> str | None:
    """The reason for which ``test`` keeps the running value: it is the maximum, the minimum, or no number."""
    if _calls(test, "greater", "less") and (_are(test.args, (running, term)) or _are(test.args, (term, running))):
        return "maximum" if (test.call == "greater") == (test.args[0] is running) else "minimum"
    return "nan" if _calls(test, "not_equal") and _are(test.args, (running, running)) else None


def _is_earlier_tie(test: Apply, running: Expression, term: Expression, old: Expression, new: Expression) -> bool:
    """True if ``test`` is running == term and old < new."""
    equal, before = sorted(test.args, key=lambda part: not _calls(part, "equal"))
    is_tie = _calls(equal, "equal") and (_are(equal.args, (running, term)) or _are(equal.args, (term, running)))
    return is_tie and (
        (_calls(before, "less") and _are(before.args, (old, new)))
        or (_calls(before, "greater") and _are(before.args, (new, old)))
    )


def _calls(node: Expression, *calls: str) -> TypeGuard[Apply]:
    return isinstance(node, Apply) and node.call in calls


def _either(node: Expression) -> list[Expression]:
    """The tests of which one must hold for ``node`` to hold."""
    if _calls(node, "bitwise_or", "logical_or"):
        return [test for arg in node.args for test in _either(arg)]
    return [node]


def _is_running(node: Expression, number: int) -> bool:
    return isinstance(node, Accumulator) and node.index == number


def _are(nodes: Sequence[Expression], wanted: Sequence[Expression]) -> bool:
    return all(node is each for node, each in zip(nodes, wanted, strict=True))


def _counts_up(place: Expression, init: Expression, fold: Fold, from_init: bool = False) -> bool:
    """True if ``place`` grows with every point of the reduced loops, alike everywhere, and is never below ``init``.

    ``from_init`` demands that it begins there.
    """
    loops = [loop for loop, reduced in enumerate(fold.reduced) if reduced and fold.extents[loop] > 1]
    if not loops or not isinstance(init, Const) or prod(fold.extents[loop] for loop in loops) > _MOST_COUNTED:
        return False
    places = _known(place, [fold.extents[loop] for loop in loops], loops)
    if places is None:
        return False
    in_order = np.broadcast_to(places, [fold.extents[loop] for loop in loops]).ravel()
    begins = in_order[0] == init.value if from_init else in_order[0] >= init.value
    return bool(begins and (np.diff(in_order) > 0).all())


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
        if choice.nan == "kept":  # one is always chosen
            return there
        is_one = apply("greater_equal", at, Const.of(0, INDEX), dtype=np.dtype(np.bool_))
        return apply("select", is_one, there, init, dtype=there.dtype)

    where = (fold.extents, fold.origin, fold.reduced)
    suffix = {"skipped": "", "restarts": "_after_nan", "kept": "_or_nan"}[choice.nan]
    function = f"first_{choice.call}{suffix}"
    statements.append(FirstExtreme(*where, function, source, place))
    if choice.nan != "skipped":
        value = picked(Read(choice.term.dtype, source), fold.inits[best])
        statements.append(Elementwise(extents, fold.origin, (fold.outputs[best],), (value,)))
    else:
        statements.append(Reduce(*where, choice.call, source, fold.outputs[best]))
    value = picked(choice.chosen, fold.inits[other])
    return [*statements, Elementwise(extents, fold.origin, (fold.outputs[other],), (value,))]


def _is_one_axis(access: Access, fold: Fold, loops: list[int]) -> bool:
    """True if the elements that are compared with each other are evenly spaced, in the order of ``loops``."""
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
