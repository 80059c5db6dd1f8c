"""Functions of one float of 16 or 8 bits, by tables.

Such a number has at most 65,536 values. Whatever follows from it alone, be it a dozen operations that are rounded one
by one, is computed for each value when the program is translated; a run takes the result from the table. The bits are
those of the operations, which made the table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.runtime.numeric import function
from ipu_mlir.runtime.numeric.narrow_floats import NAMES, bits_dtype, bits_of, of_bits, round_to
from ipu_mlir.runtime.translator.optimize.argument_numbers import numbers_of
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.control import in_blocks
from ipu_mlir.runtime.translator.statements.cost import call_us, take_us
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    Read,
    arguments,
    bits,
    loops_of,
    postorder,
    rewrite,
)
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Program, Statement
from ipu_mlir.runtime.translator.statements.types import unsigned

_GIVEN = {of_bits(name): name for name in NAMES}
_ROUNDED = {round_to(name): name for name in NAMES}


def with_lookup_tables(program: Program, options: TranslatorOptions) -> Program:
    """Look up what takes longer to compute, in tables of all values of a narrow float."""
    given = dict(pair for statement in program.statements for pair in numbers_of(statement))
    made = _Tables(given, options)

    def block(statements: Sequence[Statement]) -> list[Statement]:
        return [
            made.in_statement(statement)
            if isinstance(statement, Elementwise)
            and any(access.buffer.narrow is not None for access in (*statement.sources(), *statement.outputs))
            else in_blocks(statement, block)
            for statement in statements
        ]

    return program.with_statements(block(program.statements))


@dataclass
class _Tables:
    """The tables of one program; ``given`` are arguments, the bits by the numbers that are made of them."""

    given: dict[Buffer, Buffer]
    options: TranslatorOptions
    known: dict[Any, Buffer] = field(default_factory=dict)

    def in_statement(self, statement: Elementwise) -> Elementwise:
        """``statement`` with tables for what takes longer to compute than to look up."""
        origins = _Origins(statement.values)
        chosen: dict[int, Gather] = {}
        for last in origins.last_nodes():
            source, name = origins.source_of(last)
            elements = prod(statement.extents[loop] for loop in loops_of(source))
            table = self._table(origins.between(source, last), source, name, elements)
            if table is not None:
                index = bits(self._bits_of(source, name), unsigned(bits_dtype(name)))
                access = Access(table, 0, (0,) * len(statement.extents))
                chosen[id(last)] = Gather(last.dtype, access, index, 1, table.elements)
        return replace(statement, values=tuple(_replaced(statement.values, chosen))) if chosen else statement

    def _table(self, inside: list[Expression], source: Expression, name: str, elements: int) -> Buffer | None:
        """The table of the last of ``inside``, if that is worth it for ``elements`` elements."""
        entries = 1 << 8 * bits_dtype(name).itemsize
        index = self._bits_of(source, name)
        looking_up = take_us(entries) + (call_us(index.call) if isinstance(index, Apply) else 0.0)
        computing = sum(call_us(node.call) for node in inside if isinstance(node, Apply) and node is not source)
        if elements < self.options.table_min_reads * entries or computing < self.options.table_min_gain * looking_up:
            return None
        key = _content(inside, source, name)
        if key not in self.known:
            values = _all_values(inside, source, name)
            shape = (entries,)
            self.known[key] = Buffer(f"table{len(self.known)}", entries, values.dtype, Role.CONSTANT, shape, values)
        return self.known[key]

    def _bits_of(self, source: Expression, name: str) -> Expression:
        """The bits of ``source``, as signed integers."""
        if isinstance(source, Apply) and source.call == of_bits(name):
            return source.args[0]
        if isinstance(source, Read) and source.access.buffer in self.given:
            given = self.given[source.access.buffer]
            return Read(given.dtype, replace(source.access, buffer=given))
        return Apply(bits_dtype(name), bits_of(name), (source,))


@dataclass
class _Origins:
    """For each node of ``roots`` the one float of few bits that it follows from, as far back as there is one alone."""

    roots: tuple[Expression, ...]
    of: dict[int, Expression | None] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    nodes: list[Expression] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = postorder(self.roots)
        for node in self.nodes:
            name = _type_of(node)
            if name is not None:
                self.names[id(node)] = name
            self.of[id(node)] = self._single_origin(node) or (None if name is None else node)

    def _single_origin(self, node: Expression) -> Expression | None:
        if not isinstance(node, Apply):
            return None
        found = {id(self.of[id(arg)]): self.of[id(arg)] for arg in node.args if not isinstance(arg, Const)}
        return next(iter(found.values())) if len(found) == 1 else None

    def last_nodes(self) -> list[Expression]:
        """The nodes that follow from another one, while something that uses them does not, or nothing does."""
        needed = {id(root) for root in self.roots}
        for user in self.nodes:
            for arg in arguments(user):
                if self.of[id(arg)] is not self.of[id(user)]:
                    needed.add(id(arg))
        return [
            node
            for node in self.nodes
            if id(node) in needed and self.of[id(node)] not in (None, node) and getattr(node, "call", "bits") != "bits"
        ]

    def source_of(self, last: Expression) -> tuple[Expression, str]:
        """The node that one of ``last_nodes`` follows from, and the name of its type."""
        source = self.of[id(last)]
        assert source is not None, "the last nodes have a source"
        return source, self.names[id(source)]

    def between(self, source: Expression, last: Expression) -> list[Expression]:
        """``source``, what leads from it to ``last``, and the constants in it; arguments before users."""
        return [
            node for node in postorder([last]) if self.of[id(node)] is source or isinstance(node, Const)
        ]  # a constant that only ``source`` is made of does no harm


def _type_of(node: Expression) -> str | None:
    """The name of the float of few bits that ``node`` is, if that can be seen."""
    if isinstance(node, Read | Gather):
        is_number = node.dtype == node.access.buffer.dtype == np.float32
        return node.access.buffer.narrow if is_number else None
    if isinstance(node, Apply):
        return _GIVEN.get(node.call) or _ROUNDED.get(node.call)
    return None


def _content(inside: Sequence[Expression], source: Expression, name: str) -> Any:
    """Equal for what gives equal tables."""
    place = {id(node): number for number, node in enumerate(inside)}

    def rows() -> Iterator[Any]:
        for node in inside:
            if node is source:
                yield name
            elif isinstance(node, Const):
                yield node.dtype, node.value.tobytes()
            else:
                assert isinstance(node, Apply), "only calls follow from their arguments"
                yield node.dtype, node.call, tuple(place[id(arg)] for arg in node.args)

    return tuple(rows())


def _all_values(inside: Sequence[Expression], source: Expression, name: str) -> np.ndarray:
    """The last of ``inside`` for every value of ``source``, by the bits of that."""
    entries = np.arange(1 << 8 * bits_dtype(name).itemsize).astype(bits_dtype(name))
    found: dict[int, np.ndarray] = {}
    for node in inside:
        if node is source:
            found[id(node)] = function(of_bits(name))(entries, np.empty(entries.shape, np.float32))
        elif isinstance(node, Const):
            found[id(node)] = np.array([node.value])
        else:
            assert isinstance(node, Apply), "only calls follow from their arguments"
            found[id(node)] = _evaluated(node, [found[id(arg)] for arg in node.args])
    return found[id(inside[-1])]


def _evaluated(node: Apply, args: list[np.ndarray]) -> np.ndarray:
    if node.call == "cast":
        return args[0].astype(node.dtype)
    if node.call == "bits":
        return args[0].view(node.dtype)
    out = np.empty(np.broadcast_shapes(*(arg.shape for arg in args)), node.dtype)
    with np.errstate(all="ignore"):
        function(node.call)(*args, out=out)
    return out


def _replaced(values: Sequence[Expression], chosen: dict[int, Gather]) -> list[Expression]:
    """``values`` with gathers in place of the nodes that they were ``chosen`` for, from the outermost inwards."""
    new: dict[int, Expression] = {}

    def changed(node: Expression) -> Expression:
        gather = chosen.get(id(node))
        if gather is not None:
            return replace(gather, index=built(gather.index))
        if isinstance(node, Apply):
            args = tuple(built(arg) for arg in node.args)
            return node if args == node.args else replace(node, args=args)
        return replace(node, index=built(node.index)) if isinstance(node, Gather) else node

    def built(node: Expression) -> Expression:
        if id(node) not in new:
            new[id(node)] = changed(node)
        return new[id(node)]

    return rewrite([built(value) for value in values], lambda node: node)
