"""Loops that act as one: the images, rows and columns of a batch are its pixels to whatever treats them alike."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access
from ipu_mlir.runtime.translator.array_ir.expression import moving_accesses
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.statements import Dot, Elementwise, Program, Reduce, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_accesses

Pairs = frozenset[tuple[int, int]]
"""Loops, next to each other but for loops of one point, each with the next further in."""


def with_merged_loops(program: Program, options: TranslatorOptions) -> Program:
    """Write loops that act as one as one, in all element-wise statements over the same points or in none."""
    if options.kernels == "never":
        return program
    common: dict[tuple[int, ...], Pairs] = {}
    for each in program.statements:
        if isinstance(each, Elementwise):
            common[each.extents] = common.get(each.extents, _pairs(each)) & _pairs(each)

    def merged(statement: Statement) -> Statement:
        if isinstance(statement, Elementwise):
            return _merged(statement, common[statement.extents])
        is_alike = isinstance(statement, Dot) and statement.a.loops() == statement.b.loops()
        return _merged(statement, _pairs(statement)) if is_alike or type(statement) is Reduce else statement

    return program.with_statements([merged(each) for each in program.statements])


def _pairs(statement: Statement) -> Pairs:
    """The pairs of loops that act as one in ``statement``."""
    loops = [loop for loop, n in enumerate(statement.extents) if n > 1]
    accesses = _accesses(statement)
    return frozenset(
        (outer, inner)
        for outer, inner in pairwise(loops)
        if all(a.strides[outer] == a.strides[inner] * statement.extents[inner] for a in accesses)
        and (not isinstance(statement, Reduce) or statement.reduced[outer] == statement.reduced[inner])
    )


def _accesses(statement: Statement) -> Sequence[Access]:
    if isinstance(statement, Elementwise):
        return [*statement.outputs, *moving_accesses(statement.values)]
    return [*statement.sources(), *statement.dests()]


def _merged(statement: Statement, pairs: Pairs) -> Statement:
    """``statement`` with the loops of ``pairs`` as one, the innermost of each run, and one point in the others."""
    if not pairs:
        return statement
    inner_of = dict(pairs)
    runs: dict[int, list[int]] = {}
    for outer in sorted(inner_of):
        last = outer
        while last in inner_of:
            last = inner_of[last]
        runs.setdefault(last, []).append(outer)
    gone = {outer for run in runs.values() for outer in run}
    extents = tuple(
        1 if n in gone else prod(statement.extents[loop] for loop in (n, *runs.get(n, ())))
        for n in range(len(statement.extents))
    )

    def change(access: Access) -> Access:
        return replace(access, strides=tuple(0 if n in gone else s for n, s in enumerate(access.strides)))

    return replace(with_accesses(statement, change, change), extents=extents)
