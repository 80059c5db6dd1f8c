"""Products are stored in the order in which they are read.

A weight gradient that the update reads transposed is computed transposed instead: BLAS does not care, a transposed
walk over a large array costs several times a straight one. A product that another one sums is computed with the terms
of each sum side by side where BLAS could not take it as it lies.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Digit, Role, digits_of_cover
from ipu_mlir.runtime.translator.statements.contraction import is_matrix, loop_kinds, merges
from ipu_mlir.runtime.translator.statements.control import Control, all_statements, in_blocks
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, Program, Statement
from ipu_mlir.runtime.translator.statements.transform import parallel_extents, with_accesses


def with_layouts(program: Program) -> Program:
    """Compute a product in the order in which all its readers read it."""
    readers: dict[Buffer, list[Statement]] = {}
    everything = [s for s in all_statements(program.statements) if not isinstance(s, Control)]
    for statement in everything:
        for source in statement.sources():
            readers.setdefault(source.buffer, []).append(statement)
    results = {access.buffer for access in program.results}
    new_strides: dict[Buffer, dict[int, int]] = {}
    for statement in everything:
        if not isinstance(statement, Dot):
            continue
        buffer = statement.out.buffer
        if buffer.mutable or buffer.role is not Role.TEMPORARY or buffer in results:
            continue
        digits = digits_of_cover(statement.out, parallel_extents(statement))
        orders = {_order(reader, buffer, digits or []) for reader in readers.get(buffer, [])}
        if len(orders) == 1:
            (order,) = orders
            if order is not None and order != tuple(sorted(order, reverse=True)):
                strides = _strides(order, digits or [])
                if _matrices(_relaid(statement, {buffer: strides})) <= _matrices(statement):
                    new_strides[buffer] = strides
    if not new_strides:
        return program

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [
            in_blocks(statement, block) if isinstance(statement, Control) else _relaid(statement, new_strides)
            for statement in statements
        ]

    return program.with_statements(block(program.statements))


def _order(reader: Statement, buffer: Buffer, digits: list[Digit]) -> tuple[int, ...] | None:
    """The strides of ``buffer`` in the order in which ``reader`` walks it, if it walks digit by digit."""
    known = {digit.stride: digit.extent for digit in digits}
    found = set()
    for access in reader.sources():
        if access.buffer is not buffer:
            continue
        loops = _walked(reader, access)
        order = tuple(access.strides[loop] for loop in loops)
        if (
            access.offset
            or set(order) != set(known)
            or any(known[access.strides[loop]] != reader.extents[loop] for loop in loops)
        ):
            return None
        found.add(order)
    return found.pop() if len(found) == 1 else None


def _walked(reader: Statement, access: Access) -> list[int]:
    """The loops along which ``reader`` would read ``access``, outermost first; none if any order will do."""
    if not isinstance(reader, Elementwise | Dot):
        return []  # a codelet has no loops
    loops = [loop for loop, s in enumerate(access.strides) if s and reader.extents[loop] > 1]
    if isinstance(reader, Elementwise):
        return sorted(loops, key=lambda loop: -reader.outputs[0].strides[loop]) if len(reader.outputs) == 1 else []
    if reader.a.buffer is reader.b.buffer:
        return []
    kinds, other = loop_kinds(reader), reader.b if access == reader.a else reader.a
    own = kinds.rows if access == reader.a else kinds.columns
    summed = tuple(sorted(kinds.summed, key=lambda loop: -other.strides[loop]))
    sizes = [prod(reader.extents[loop] for loop in part) for part in (own, summed)]
    steps = [access.strides[part[-1]] if part else 0 for part in (own, summed)]
    if all(merges(part, reader.extents, access) for part in (own, summed)) and is_matrix(*sizes, *steps):
        return []
    return sorted(loops, key=lambda loop: (loop in summed, -(other if loop in summed else access).strides[loop]))


def _matrices(dot: Statement) -> int:
    """The number of runs of loops into which the rows and columns of the product fall."""
    assert isinstance(dot, Dot), "only products are laid out"
    kinds = loop_kinds(dot)
    count = 0
    for loops, factor in ((kinds.rows, dot.a), (kinds.columns, dot.b)):
        count += 1 + sum(not merges(pair, dot.extents, dot.out, factor) for pair in pairwise(loops))
    return count


def _strides(order: tuple[int, ...], digits: list[Digit]) -> dict[int, int]:
    """New stride of each digit, by its old one, when the buffer lies in ``order``."""
    extents = {digit.stride: digit.extent for digit in digits}
    strides, stride = {}, 1
    for old in reversed(order):
        strides[old] = stride
        stride *= extents[old]
    return strides


def _relaid(statement: Statement, new_strides: dict[Buffer, dict[int, int]]) -> Statement:
    def change(access: Access) -> Access:
        strides = new_strides.get(access.buffer)
        if strides is None:
            return access
        moved = (strides[s] if s and n > 1 else 0 for s, n in zip(access.strides, statement.extents, strict=True))
        return replace(access, strides=tuple(moved))

    return with_accesses(statement, change, change)
