"""Partial sums and their sum, as the one reduction that they are halves of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, digits_of_cover, temporary
from ipu_mlir.runtime.translator.array_ir.combiner import combiner_of, is_neutral
from ipu_mlir.runtime.translator.array_ir.expression import (
    Accumulator,
    Apply,
    Const,
    Expression,
    Read,
    apply,
    cast,
    rewrite,
)
from ipu_mlir.runtime.translator.array_ir.statements import Elementwise, Fold, Statement
from ipu_mlir.runtime.translator.array_ir.transform import parallel_extents, with_loop_split
from ipu_mlir.runtime.translator.importing.narrow_floats import not_rounded
from ipu_mlir.runtime.translator.optimize.aliases import Copied, CopyDigit, loop_to_split, reading_through
from ipu_mlir.runtime.translator.optimize.reductions.joined_loops import joined, with_loops_joined

_MOST_SPLITS = 16


@dataclass(frozen=True)
class Folding:
    """How a reduction goes on: ``call`` of the running value and ``term``, then ``narrow`` to what it is kept in."""

    call: str
    unsigned: bool
    term: Expression
    narrow: str | None


def folding_of(value: Expression) -> Folding | None:
    """What ``value`` does with the one running value in it; None if that is more than one ufunc and a rounding."""
    inner, narrow = not_rounded(value)
    if narrow is not None:
        inner = _not_widened(inner)
    elif isinstance(value, Apply) and value.call == "cast" and _is_narrower(value.dtype, value.args[0].dtype):
        (inner,) = rewrite(value.args, _widened)
        narrow = "cast"
    found = combiner_of(inner)
    if found is None:
        return None
    call, unsigned, term = found
    return Folding(call, unsigned, term, narrow)


def starts_neutral(folding: Folding, init: Const) -> bool:
    """True if ``init`` changes nothing. (An infinity is as good as NaN where numbers win over NaN.)"""
    call = {"fmax": "maximum", "fmin": "minimum"}.get(folding.call, folding.call)
    return is_neutral(folding.call, folding.unsigned, init) or is_neutral(call, folding.unsigned, init)


def accumulating(statement: Statement, known: Callable[[Buffer], bool]) -> Fold | None:
    """``statement`` as a reduction with one result: one that is, or one that changes each element of its result once.

    The latter are looked for only where what the result starts from is ``known`` to hold something simple.
    """
    if isinstance(statement, Fold):
        return statement if len(statement.outputs) == 1 else None
    if not isinstance(statement, Elementwise) or len(statement.outputs) != 1:
        return None
    (out,) = statement.outputs
    for access in statement.sources():
        if not known(access.buffer) or (access.offset, access.strides) != (out.offset, out.strides):
            continue

        def running(node: Expression, access: Access = access) -> Expression:
            return Accumulator(node.dtype, 0) if isinstance(node, Read) and node.access == access else node

        values = tuple(rewrite(statement.values, running))
        if folding_of(values[0]) is not None:
            none = (False,) * len(statement.extents)
            init = Read(access.buffer.dtype, access)
            return Fold(statement.extents, statement.origin, none, statement.outputs, (init,), values)
    return None


def united(pieces: Sequence[Fold], total: Fold) -> list[Statement] | None:
    """What gives the result of ``total`` without what ``pieces`` leave for it to read; None if that cannot be said.

    ``pieces`` add to elements of one buffer that begin neutral, ``total`` folds all elements of that buffer.
    """
    (partial,) = {piece.outputs[0].buffer for piece in pieces}
    first, last = folding_of(pieces[0].values[0]), folding_of(total.values[0])
    if first is None or last is None:
        return None
    rounding = _last_rounding(first, last, total.values[0].dtype, partial)
    if rounding is None:
        return None
    (read,) = total.sources_of_values()
    digits = digits_of_cover(read, total.extents)
    if digits is None:
        return None
    (out,) = total.outputs
    where = tuple(CopyDigit(digit.extent, digit.stride, out.strides[digit.loop]) for digit in digits)
    whole: list[Fold] = []
    for piece in pieces:
        folded = _folded_into(piece, total, Copied(where, out.buffer, out.offset))
        if folded is None:
            return None
        whole.append(folded)
        while len(whole) > 1 and (both := joined(whole[-2], whole[-1])) is not None:
            whole[-2:] = [both]
    if len(whole) > 1 or prod(parallel_extents(whole[0])) != prod(parallel_extents(total)):
        return None
    return _rounded(whole[0], partial.dtype, rounding) if rounding else [whole[0]]


def _last_rounding(piece: Folding, total: Folding, dtype: np.dtype[Any], partial: Buffer) -> str | None:
    """What makes the total less (of ``dtype``) than the pieces; empty if nothing; None if they do not fit together."""
    if (piece.call, piece.unsigned) != (total.call, total.unsigned):
        return None
    term, narrow = total.term, total.narrow
    if isinstance(term, Apply) and (term.call == "cast" or not_rounded(term)[1]):
        term, narrow = _not_widened(term.args[0]), term.call
    if not isinstance(term, Read) or term.access.buffer is not partial or term.dtype.itemsize != partial.dtype.itemsize:
        return None
    if piece.narrow or not narrow:
        return "" if piece.narrow == total.narrow == narrow and dtype == partial.dtype else None
    fits = _is_narrower(dtype, partial.dtype) if narrow == "cast" else dtype == partial.dtype
    return narrow if fits else None


def _folded_into(piece: Fold, total: Fold, place: Copied) -> Fold | None:
    """``piece`` adding to the result of ``total`` instead; ``place`` says where there each of its elements goes."""
    for _ in range(_MOST_SPLITS):
        (kept,) = piece.outputs
        out = reading_through(kept, piece.extents, place)
        if out is not None:
            break
        wanted = loop_to_split(kept, piece.extents, place)
        if wanted is None:
            return None
        split = with_loop_split(piece, *wanted)
        assert isinstance(split, Fold), "a reduction with a loop cut in two is a reduction"
        piece = split
    else:
        return None
    ended = [bool(was and not now) for was, now in zip(kept.strides, out.strides, strict=True)]
    reduced = tuple(was or now for was, now in zip(piece.reduced, ended, strict=True))
    if not _is_injective(out, parallel_extents(replace(piece, reduced=reduced))):
        return None
    (old,) = total.inits
    if not isinstance(old, Read) or replace(old.access, buffer=out.buffer) != total.outputs[0]:
        return None
    init = Read(old.dtype, replace(out, buffer=old.access.buffer))
    folded = replace(piece, reduced=reduced, outputs=(out,), inits=(init,), origin=total.origin)
    for loop in reversed([loop for loop, is_ended in enumerate(ended) if is_ended]):
        folded = with_loops_joined(folded, loop)
    return folded


def _is_injective(out: Access, extents: tuple[int, ...]) -> bool:
    """True if no element is named twice."""
    reach = 0
    for stride, extent in sorted((s, n) for s, n in zip(out.strides, extents, strict=True) if n > 1):
        if stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


def _rounded(fold: Fold, wide: np.dtype[Any], rounding: str) -> list[Statement]:
    """``fold`` on ``wide`` numbers, and the statement that rounds its result by a call of ``rounding``."""
    (out,), (init,) = fold.outputs, fold.inits
    extents = parallel_extents(fold)
    loops = sorted((loop for loop, n in enumerate(extents) if n > 1), key=lambda loop: -out.strides[loop])
    held = temporary(f"{out.buffer.name}_wide", wide, fold.extents, loops)
    total = Read(wide, held)
    narrow = apply(rounding, total, dtype=out.buffer.dtype)
    folded = replace(fold, outputs=(held,), inits=(cast(init, wide),))
    return [folded, Elementwise(extents, fold.origin, (out,), (narrow,))]


def _is_narrower(dtype: np.dtype[Any], than: np.dtype[Any]) -> bool:
    return dtype.kind == than.kind == "f" and dtype.itemsize < than.itemsize


def _widened(node: Expression) -> Expression:
    """A running value that is kept narrow, as it is computed with."""
    if isinstance(node, Apply) and node.call == "cast" and isinstance(node.args[0], Accumulator):
        return Accumulator(node.dtype, node.args[0].index)
    return node


def _not_widened(node: Expression) -> Expression:
    """What ``node`` was before it was made wider, to be rounded once."""
    if isinstance(node, Apply) and node.call == "cast" and _is_narrower(node.args[0].dtype, node.dtype):
        return node.args[0]
    return node
