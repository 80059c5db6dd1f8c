"""Reductions that keep the largest (or smallest) element and, from where it came first, something else: argmax."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

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
from ipu_mlir.runtime.translator.statements import Elementwise, FirstExtreme, Fold, Reduce, Statement
from ipu_mlir.runtime.translator.transform import parallel_extents

_BETTER = {"maximum": ("greater", "less"), "minimum": ("less", "greater")}


def kept_from_first(fold: Fold, in_memory: Callable[[Expression, list[Statement]], Access]) -> list[Statement] | None:
    """The statements that ``fold`` is, if it keeps the best value and chooses the other where a value is better.

    Args:
        in_memory: gives the access to a term that is reduced, and appends what computes it.
    """
    if len(fold.values) != 2:
        return None
    for value, other in ((0, 1), (1, 0)):
        matched = combiner_of(fold.values[value])
        if matched is None or matched[0] not in _BETTER or matched[1] or matched[2].dtype.kind not in "fi":
            continue
        call, _, term = matched
        chosen = _chosen_where_better(fold.values[other], call, term, value, other)
        if chosen is not None and is_neutral(call, False, fold.inits[value]):
            return _statements(fold, call, term, (value, chosen), in_memory)
    return None


def _chosen_where_better(choice: Expression, call: str, term: Expression, best: int, number: int) -> Expression | None:
    """What running value ``number`` becomes where ``term`` is better than running value ``best``."""
    if not isinstance(choice, Apply) or choice.call != "select":
        return None
    condition, chosen, kept = choice.args
    if not isinstance(kept, Accumulator) or kept.index != number or uses_accumulator(chosen):
        return None
    if not isinstance(condition, Apply) or condition.call not in _BETTER[call]:
        return None
    new, running = condition.args if condition.call == _BETTER[call][0] else condition.args[::-1]
    return chosen if new is term and isinstance(running, Accumulator) and running.index == best else None


def _statements(
    fold: Fold,
    call: str,
    term: Expression,
    kept: tuple[int, Expression],
    in_memory: Callable[[Expression, list[Statement]], Access],
) -> list[Statement] | None:
    statements: list[Statement] = []
    source = in_memory(term, statements)
    loops = [loop for loop, reduced in enumerate(fold.reduced) if reduced and fold.extents[loop] > 1]
    if not loops or not _is_one_axis(source, fold, loops):
        return None
    (value, chosen), extents = kept, parallel_extents(fold)
    standing = [loop for loop, n in enumerate(extents) if n > 1]
    place = temporary(f"{fold.outputs[1 - value].buffer.name}_place", INDEX, fold.extents, standing)
    at = Read(INDEX, place)
    (there,) = rewrite([chosen], lambda node: _standing(node, fold, loops, at))
    none = apply("greater_equal", at, Const.of(0, INDEX), dtype=np.dtype(np.bool_))
    picked = apply("select", none, there, fold.inits[1 - value], dtype=there.dtype)
    where = (fold.extents, fold.origin, fold.reduced)
    return [
        *statements,
        FirstExtreme(*where, f"first_{call}", source, place),
        Reduce(*where, call, source, fold.outputs[value]),
        Elementwise(extents, fold.origin, (fold.outputs[1 - value],), (picked,)),
    ]


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
