"""Reductions over the rows of large arrays in two steps: of a few rows at a time, then of what those gave.

The first step is part of any loop over blocks of rows. In a layer norm's gradient, the sums over rows then need no
pass of their own, and what is done row by row is not cut into columns for their sake.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.array_ir.access import Access, temporary
from ipu_mlir.runtime.translator.array_ir.control import Control, in_blocks
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.array_ir.statements import Dot, Elementwise, Program, Reduce, Statement
from ipu_mlir.runtime.translator.array_ir.transform import with_loop_split

_LEAST_PER_PART = 8192  # elements: a strip of a few rows, half of the innermost cache
_TIMES_LARGE = 8  # an array that is worth a block: smaller ones stay in the second cache from one pass to the next
_MOST_PER_PART = 32768  # elements: a few arrays of them are in the second cache
_TIMES_RESULT = 16  # elements of a part, so that writing its results takes no time beside reading it


def with_split_rows(program: Program, options: TranslatorOptions) -> Program:
    """Reduce a few rows of a large array at a time, and then what those gave."""
    if options.kernels == "never":
        return program

    def block(statements: Sequence[Statement]) -> list[Statement]:
        found: list[Statement] = []
        waiting: list[Statement] = []  # second steps, and little that needs them: they would part what shares a loop
        for statement in statements:
            if waiting and (isinstance(statement, Control) or _needs(statement, waiting)):
                if isinstance(statement, Elementwise) and prod(statement.extents) < options.block_min_array:
                    waiting.append(statement)
                    continue
                found, waiting = [*found, *waiting], []
            first, second = _steps(in_blocks(statement, block), options)
            found.append(first)
            waiting += [] if second is None else [second]
        return found + waiting

    return program.with_statements(block(program.statements))


def _needs(statement: Statement, earlier: Sequence[Statement]) -> bool:
    """True if ``statement`` has to stay behind one of ``earlier``."""
    read, written = ({access.buffer for access in each} for each in (statement.sources(), statement.dests()))
    return any(
        not written.isdisjoint(access.buffer for access in (*each.sources(), *each.dests()))
        or not read.isdisjoint(access.buffer for access in each.dests())
        for each in earlier
    )


def rows_per_part(rows: int, row: int, results: int) -> int:
    """The least divisor of ``rows`` from which a part is worth its ``results``; ``row`` elements are in each.

    >>> rows_per_part(8192, 1024, 1024), rows_per_part(16, 200704, 64), rows_per_part(7, 10, 10)
    (16, 1, 7)
    """
    least = max(_LEAST_PER_PART, _TIMES_RESULT * results)
    return next(n for n in range(1, rows + 1) if rows % n == 0 and (n * row >= least or n == rows))


def _steps(statement: Statement, options: TranslatorOptions) -> tuple[Statement, Reduce | None]:
    """``statement`` in two steps, if it reduces the outermost loop of a large array."""
    rows = _reduced_rows(statement, options)
    if rows is None:
        return statement, None
    assert isinstance(statement, Dot | Reduce), "others are not split"
    count, points = statement.extents[rows], prod(statement.extents)
    kept = [loop for loop in statement.out.loops() if statement.extents[loop] > 1]
    results = prod(statement.extents[loop] for loop in kept)
    each = rows_per_part(count, points // count, results)
    is_large = points > count // each * max(_MOST_PER_PART, 2 * _TIMES_RESULT * results)
    if count // each < options.threads or each == count or is_large:
        return statement, None
    cut = with_loop_split(statement, rows, each)
    assert isinstance(cut, Dot | Reduce), "a reduction stays one"
    out, extents = cut.out, cut.extents
    order = sorted((n for n in out.loops() if extents[n] > 1), key=lambda n: -out.strides[n])
    part = temporary(f"{out.buffer.name}_parts", out.buffer.dtype, extents, [rows, *order])
    remaining = tuple(n if part.strides[loop] else 1 for loop, n in enumerate(extents))
    over = tuple(loop == rows for loop in range(len(extents)))
    if isinstance(cut, Reduce):
        reduced = tuple(is_reduced and loop != rows for loop, is_reduced in enumerate(cut.reduced))
        return replace(cut, reduced=reduced, out=part), replace(
            cut, extents=remaining, reduced=over, source=part, out=out
        )
    return replace(cut, out=part), Reduce(remaining, cut.origin, over, "add", part, out)


def _reduced_rows(statement: Statement, options: TranslatorOptions) -> int | None:
    """The loop that is outermost in all that ``statement`` reads, if it is reduced."""
    if type(statement) is Reduce:
        sources: list[Access] = [statement.source]
    elif isinstance(statement, Dot) and statement.a.loops() == statement.b.loops():
        sources = [statement.a, statement.b]
    else:
        return None
    loops = [loop for loop, n in enumerate(statement.extents) if n > 1]
    if prod(statement.extents) < _TIMES_LARGE * options.block_min_array or not loops:
        return None
    found = {max(loops, key=lambda loop: abs(source.strides[loop])) for source in sources}
    rows = found.pop()
    return rows if not found and not statement.out.strides[rows] else None
