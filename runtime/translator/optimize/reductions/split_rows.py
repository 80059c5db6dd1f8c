"""Reductions over the rows of large arrays in two steps: of a few rows at a time, then of what those gave.

The first step is part of any loop over blocks of rows. In a layer norm's gradient, the sums over rows then need no
pass of their own, and what is done row by row is not cut into columns for their sake.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.statements.access import Access, temporary
from ipu_mlir.runtime.translator.statements.control import Control, in_blocks
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, Program, Reduce, Statement
from ipu_mlir.runtime.translator.statements.transform import with_accesses, with_loop_split

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
            waiting += second
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
    """The least rows of a part that is worth its ``results``; ``row`` elements are in each.

    Parts are equal if that takes less than twice as many; else the last one is shorter.

    >>> rows_per_part(8192, 1024, 1024), rows_per_part(16, 200704, 64), rows_per_part(7, 10, 10)
    (16, 1, 7)
    >>> rows_per_part(20011, 333, 333), rows_per_part(20020, 333, 333)
    (25, 26)
    """
    least = -(-max(_LEAST_PER_PART, _TIMES_RESULT * results) // row)
    if least >= rows:
        return rows
    return next((n for n in range(least, 2 * least) if rows % n == 0), least)


def _steps(statement: Statement, options: TranslatorOptions) -> tuple[Statement, list[Statement]]:
    """``statement`` in two steps, if it reduces the outermost loop of a large array.

    A last part that is shorter than the others is of the second step.
    """
    rows = _reduced_rows(statement, options)
    if rows is None:
        return statement, []
    assert isinstance(statement, Dot | Reduce), "others are not split"
    count, points = statement.extents[rows], prod(statement.extents)
    kept = [loop for loop in statement.out.loops() if statement.extents[loop] > 1]
    results = prod(statement.extents[loop] for loop in kept)
    each = rows_per_part(count, points // count, results)
    is_large = points > count // each * max(_MOST_PER_PART, 2 * _TIMES_RESULT * results)
    if count // each < options.threads or each == count or is_large:
        return statement, []
    whole, rest = divmod(count, each)
    cuts = [(0, each, whole), (whole * each, rest, 1)] if rest else [(0, each, whole)]
    parts = [with_loop_split(_some_rows(statement, rows, begin, size * n), rows, size) for begin, size, n in cuts]
    (out,), extents = parts[0].dests(), list(parts[0].extents)
    extents[rows] = -(-count // each)
    order = sorted((n for n in out.loops() if extents[n] > 1), key=lambda n: -out.strides[n])
    held = temporary(f"{out.buffer.name}_parts", out.buffer.dtype, tuple(extents), [rows, *order])
    held = replace(held, buffer=replace(held.buffer, mutable=len(parts) > 1))
    first = [
        _into(part, rows, replace(held, offset=held.strides[rows] * (begin // each)))
        for part, (begin, _, _) in zip(parts, cuts, strict=True)
    ]
    remaining = tuple(n if held.strides[loop] else 1 for loop, n in enumerate(extents))
    over = tuple(loop == rows for loop in range(len(extents)))
    how = (statement.call, statement.unsigned) if isinstance(statement, Reduce) else ("add", False)
    total = Reduce(remaining, statement.origin, over, how[0], held, out, how[1])
    return first[0], [*first[1:], total]


def _into(part: Statement, loop: int, held: Access) -> Statement:
    """``part`` with a result for each point of ``loop``."""
    if isinstance(part, Reduce):
        return replace(part, out=held, reduced=tuple(was and n != loop for n, was in enumerate(part.reduced)))
    assert isinstance(part, Dot), "a reduction stays one"
    return replace(part, out=held)


def _some_rows(statement: Dot | Reduce, loop: int, begin: int, count: int) -> Statement:
    """``statement`` over ``count`` points of ``loop`` from ``begin`` on."""
    extents = (*statement.extents[:loop], count, *statement.extents[loop + 1 :])

    def moved(access: Access) -> Access:
        return replace(access, offset=access.offset + begin * access.strides[loop])

    return replace(with_accesses(statement, moved, moved), extents=extents)


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
