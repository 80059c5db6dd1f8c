"""Reductions of the IR as contractions, one-ufunc reductions, and the element-wise work around them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.optimize.reductions.exact_floats import exact_product
from ipu_mlir.runtime.translator.optimize.reductions.wide_sums import widened
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, temporary
from ipu_mlir.runtime.translator.statements.combiner import COMBINERS, combiner_of, is_neutral
from ipu_mlir.runtime.translator.statements.control import Control, all_statements, in_blocks
from ipu_mlir.runtime.translator.statements.expression import (
    Accumulator,
    Apply,
    Expression,
    Read,
    bits,
    loops_of,
    reads,
    rewrite,
)
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, Fold, Program, Reduce, Scan, Statement
from ipu_mlir.runtime.translator.statements.transform import parallel_extents, with_other_buffers, with_reads


def decomposed(program: Program, options: TranslatorOptions) -> Program:
    """Write reductions as contractions, reductions by one ufunc, and scans."""

    def block(old: Sequence[Statement]) -> list[Statement]:
        statements: list[Statement] = []
        for statement in old:
            statements += _parts(statement, options) if isinstance(statement, Fold) else [in_blocks(statement, block)]
        return statements

    program = _with_bounds(program)
    parts = program.with_statements(block(program.statements))
    scanned = {out.buffer for s in all_statements(parts.statements) if isinstance(s, Scan) for out in s.outputs}
    return with_other_buffers(parts, {b: replace(b, mutable=True) for b in scanned if not b.mutable})


def _with_bounds(program: Program) -> Program:
    """``program`` whose integers know what they lie between, where one statement computes them: 8 bits, mostly.

    A product of what was widened by itself is then one of floats, as if it were widened on the way.
    """
    statements = [each for each in all_statements(program.statements) if not isinstance(each, Control)]
    writers = Counter(out.buffer for each in statements for out in each.dests())
    bounded: dict[Buffer, Buffer] = {}

    def change(access: Access) -> Access:
        return replace(access, buffer=bounded.get(access.buffer, access.buffer))

    for each in statements:
        for out, value in zip(each.outputs, each.values, strict=True) if isinstance(each, Elementwise) else ():
            buffer = out.buffer
            if (
                value.dtype == buffer.dtype
                and buffer.dtype.kind in "iu"
                and buffer.role is Role.TEMPORARY
                and not buffer.mutable
            ):
                interval = Ranges(each.extents).of(with_reads((value,), change)[0])
                if interval is not None and writers[buffer] == 1 and buffer.bounds is None:
                    bounded[buffer] = replace(buffer, bounds=interval)
    return with_other_buffers(program, bounded)


def _parts(fold: Fold, options: TranslatorOptions) -> list[Statement]:
    wide = widened(fold)
    if wide is not None:
        on_f32, rounding = wide
        return [*_parts(on_f32, options), rounding]
    if len(fold.values) == 1:
        matched = combiner_of(fold.values[0])
        if matched is not None:
            return _combined(fold, *matched, options)
    return _scanned(fold)


def _combined(fold: Fold, call: str, unsigned: bool, term: Expression, options: TranslatorOptions) -> list[Statement]:
    """The terms, then their reduction, then the combination with the initial value where that is not neutral."""
    (out,), (init,) = fold.outputs, fold.inits
    target = out
    if not is_neutral(call, unsigned, init):
        loops = [loop for loop, n in enumerate(parallel_extents(fold)) if n > 1]
        target = temporary(f"{out.buffer.name}_part", out.buffer.dtype, fold.extents, loops)
    statements = _contraction(fold, call, term, target, options) or _reduction(fold, call, unsigned, term, target)
    if target is not out:
        part: Expression = Read(out.buffer.dtype, target)
        if unsigned:
            seen = np.dtype(f"u{out.buffer.dtype.itemsize}")
            value = bits(Apply(seen, call, (bits(init, seen), bits(part, seen))), out.buffer.dtype)
        else:
            value = Apply(out.buffer.dtype, call, (init, part))
        statements.append(Elementwise(parallel_extents(fold), fold.origin, (out,), (value,)))
    return statements


def _contraction(
    fold: Fold, call: str, term: Expression, target: Access, options: TranslatorOptions
) -> list[Statement] | None:
    """The terms as a product of two factors that both move with all summed loops; None if they are none."""
    if call != "add" or term.dtype.kind not in "fiu" or not isinstance(term, Apply) or term.call != "multiply":
        return None
    a, b = term.args
    loops_a, loops_b = loops_of(a), loops_of(b)
    many = [loop for loop, n in enumerate(fold.extents) if n > 1]
    if any(loop not in (loops_a & loops_b if fold.reduced[loop] else loops_a | loops_b) for loop in many):
        return None
    if loops_a == loops_b:
        length = prod(fold.extents[loop] for loop in many if fold.reduced[loop])
        plain = isinstance(a, Read) and isinstance(b, Read)
        is_one = all(fold.reduced[loop] for loop in many)
        shortest = options.single_vecdot_min_length if is_one else options.vecdot_min_length
        if not plain or length < shortest or term.dtype.kind != "f":
            return None
    exact = exact_product(fold, a, b, target, lambda value, name, made: _as_access(value, fold, name, made))
    if exact is not None:
        return exact
    statements: list[Statement] = []
    factor_a = _as_access(a, fold, "lhs", statements)
    factor_b = factor_a if b is a else _as_access(b, fold, "rhs", statements)
    return [*statements, Dot(fold.extents, fold.origin, factor_a, factor_b, target)]


def _reduction(fold: Fold, call: str, unsigned: bool, term: Expression, target: Access) -> list[Statement]:
    statements: list[Statement] = []
    source = _as_access(term, fold, "terms", statements)
    statements.append(Reduce(fold.extents, fold.origin, fold.reduced, COMBINERS[call], source, target, unsigned))
    return statements


def _as_access(value: Expression, fold: Fold, suffix: str, statements: list[Statement]) -> Access:
    """``value`` in memory: where it lies, or a temporary over the loops that it depends on."""
    if isinstance(value, Read) and value.dtype == value.access.buffer.dtype:
        return value.access
    loops = sorted(loop for loop in loops_of(value) if fold.extents[loop] > 1)
    # lie as the largest operand lies, so that the temporary is computed in the order of memory
    operands = reads([value])
    widest = max(operands, key=lambda access: len(access.loops()), default=None)
    if widest is not None and all(widest.strides[loop] for loop in loops):
        loops.sort(key=lambda loop: -widest.strides[loop])
    elif loops:  # or along that loop along which fewest operands have to be gathered
        apart = [sum(access.strides[loop] not in (0, 1) for access in operands) for loop in loops]
        loops.append(loops.pop(len(loops) - 1 - apart[::-1].index(min(apart))))
    held = temporary(f"{fold.outputs[0].buffer.name}_{suffix}", value.dtype, fold.extents, loops)
    extents = tuple(n if loop in loops else 1 for loop, n in enumerate(fold.extents))
    statements.append(Elementwise(extents, fold.origin, (held,), (value,)))
    return held


def _scanned(fold: Fold) -> list[Statement]:
    """The initial values in place, then one step per reduced point."""
    statements: list[Statement] = []
    extents = parallel_extents(fold)
    for out, init in zip(fold.outputs, fold.inits, strict=True):
        if not (isinstance(init, Read) and init.access == out):
            statements.append(Elementwise(extents, fold.origin, (out,), (init,)))

    def running(node: Expression) -> Expression:
        return Read(node.dtype, fold.outputs[node.index]) if isinstance(node, Accumulator) else node

    values = tuple(rewrite(fold.values, running))
    statements.append(Scan(fold.extents, fold.origin, fold.reduced, fold.outputs, values))
    return statements
