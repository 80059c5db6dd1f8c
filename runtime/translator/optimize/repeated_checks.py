"""An assertion that was made before is not made again: frameworks repeat them at every use of a value."""

from collections.abc import Sequence
from typing import Any

from ipu_mlir.runtime.translator.array_ir.control import in_blocks
from ipu_mlir.runtime.translator.array_ir.expression import Const, Expression, Gather, Read, arguments, postorder, reads
from ipu_mlir.runtime.translator.array_ir.statements import Check, Program, Statement


def without_repeated_checks(program: Program) -> Program:
    """Drop assertions of what an earlier one has asserted of the same data."""

    def block(statements: Sequence[Statement], asserted: frozenset[Any]) -> list[Statement]:
        known, found = set(asserted), []
        for statement in statements:
            if isinstance(statement, Check) and not any(a.buffer.mutable for a in reads(statement.values)):
                key = (statement.extents, _content(statement.values[0]))
                if key in known:
                    continue
                known.add(key)
            found.append(in_blocks(statement, lambda inner: block(inner, frozenset(known))))
        return found

    return program.with_statements(block(program.statements, frozenset()))


def _content(root: Expression) -> tuple[Any, ...]:
    """Equal for expressions that compute the same from the same: the nodes in order, operands by position."""
    nodes = postorder([root])
    place = {id(node): position for position, node in enumerate(nodes)}
    return tuple(
        (
            node.dtype,
            node.value.tobytes() if isinstance(node, Const) else getattr(node, "call", None),
            node.access if isinstance(node, Read | Gather) else None,
            (node.stride, node.limit) if isinstance(node, Gather) else None,
            tuple(place[id(argument)] for argument in arguments(node)),
        )
        for node in nodes
    )
