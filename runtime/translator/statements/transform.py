"""Statements with other accesses or other loops: the mechanical part of every rewriting step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.control import Control
from ipu_mlir.runtime.translator.statements.expression import Expression, Gather, Read, rewrite
from ipu_mlir.runtime.translator.statements.statements import (
    Check,
    Dot,
    Elementwise,
    Fold,
    LibraryCall,
    Program,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
)

Change = Callable[[Access], Access]


def same(access: Access) -> Access:
    """No change."""
    return access


def with_reads(values: tuple[Expression, ...], change: Change) -> tuple[Expression, ...]:
    """``values`` with every access that is read replaced, those of gathers as well."""

    def changed(node: Expression) -> Expression:
        return replace(node, access=change(node.access)) if isinstance(node, Read | Gather) else node

    return tuple(rewrite(values, changed))


def standing(value: Expression, rank: int) -> Expression:
    """``value``, which is the same at every point, in a statement of ``rank`` loops."""
    (seen,) = with_reads((value,), lambda access: replace(access, strides=(0,) * rank))
    return seen


def with_accesses(statement: Statement, source: Change, dest: Change) -> Statement:
    """``statement`` with ``source`` applied to what it reads and ``dest`` to what it writes."""
    match statement:
        case Check():
            return replace(statement, values=with_reads(statement.values, source))
        case LibraryCall():
            inputs, outputs = tuple(map(source, statement.inputs)), tuple(map(dest, statement.outputs))
            return replace(statement, inputs=inputs, outputs=outputs)
        case Elementwise() | Scan():
            outputs = tuple(map(dest, statement.outputs))
            return replace(statement, outputs=outputs, values=with_reads(statement.values, source))
        case Fold():
            both = with_reads((*statement.values, *statement.inits), source)
            count = len(statement.values)
            outputs = tuple(map(dest, statement.outputs))
            return replace(statement, outputs=outputs, values=both[:count], inits=both[count:])
        case SliceUpdate():
            *indexes, value = with_reads(statement.expressions(), source)
            out = dest(statement.out)
            return replace(statement, indexes=tuple(indexes), value=value, old=source(statement.old), out=out)
        case Dot():
            return replace(statement, a=source(statement.a), b=source(statement.b), out=dest(statement.out))
        case Reduce():
            return replace(statement, source=source(statement.source), out=dest(statement.out))
    raise AssertionError(f"unknown statement {statement!r}")


def with_other_buffers(program: Program, others: Mapping[Buffer, Buffer]) -> Program:
    """``program`` in which other buffers stand for those that ``others`` names."""
    if not others:
        return program
    arguments = tuple(others.get(buffer, buffer) for buffer in program.arguments)
    statements = statements_with_other_buffers(program.statements, others)
    results = tuple(_with_other_buffer(access, others) for access in program.results)
    return replace(program, arguments=arguments, statements=tuple(statements), results=results)


def statements_with_other_buffers(statements: Sequence[Statement], others: Mapping[Buffer, Buffer]) -> list[Statement]:
    """``statements`` in which other buffers stand for those that ``others`` names; a loop keeps its variable."""

    def change(access: Access) -> Access:
        return _with_other_buffer(access, others)

    return [
        statement.changed(lambda block: statements_with_other_buffers(block, others), change)
        if isinstance(statement, Control)
        else with_accesses(statement, change, change)
        for statement in statements
    ]


def _with_other_buffer(access: Access, others: Mapping[Buffer, Buffer]) -> Access:
    return replace(access, buffer=others[access.buffer]) if access.buffer in others else access


def with_loop_split(statement: Statement, loop: int, inner: int) -> Statement:
    """``statement`` with ``loop`` cut in two; the new inner loop has extent ``inner``, which divides the old extent."""

    def split(access: Access) -> Access:
        stride = access.strides[loop]
        strides = (*access.strides[:loop], stride * inner, stride, *access.strides[loop + 1 :])
        return replace(access, strides=strides)

    result = with_accesses(statement, split, split)
    extents = statement.extents
    changes: dict = {"extents": (*extents[:loop], extents[loop] // inner, inner, *extents[loop + 1 :])}
    if isinstance(statement, Fold | Reduce | Scan):
        changes["reduced"] = (*statement.reduced[: loop + 1], *statement.reduced[loop:])
    return replace(result, **changes)


def parallel_extents(statement: Statement) -> tuple[int, ...]:
    """The extents of the loops, with 1 in place of those that are reduced."""
    if isinstance(statement, Fold | Reduce | Scan):
        return tuple(1 if r else n for n, r in zip(statement.extents, statement.reduced, strict=True))
    if isinstance(statement, Dot):
        return tuple(n if s else 1 for n, s in zip(statement.extents, statement.out.strides, strict=True))
    return statement.extents


def points(statement: Statement) -> int:
    """The number of times that the body runs."""
    return prod(statement.extents)


def with_rewritten_values(statement: Statement, change: Callable[[Expression], Expression]) -> Statement:
    """``statement`` with ``change`` applied to every node of what it computes."""
    if isinstance(statement, Elementwise | Scan | Check):
        return replace(statement, values=tuple(rewrite(statement.values, change)))
    if isinstance(statement, Fold):
        both = rewrite((*statement.values, *statement.inits), change)
        count = len(statement.values)
        return replace(statement, values=tuple(both[:count]), inits=tuple(both[count:]))
    if isinstance(statement, SliceUpdate):
        *indexes, value = rewrite(statement.expressions(), change)
        return replace(statement, indexes=tuple(indexes), value=value)
    return statement
