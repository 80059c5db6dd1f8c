"""Ops with regions: where the values of their blocks come from and go, how often they run.

One row of ``CONTROL_OPS`` per op; placing, memory, profile and checks ask the functions here and never compare names.
The values that a region op carries go along *flows*: some operands of one op (the region op itself, or the terminator
of one of its blocks) become the arguments of a block or the results of the region op, in order.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, integer_of, terminator
from ipu_mlir.dialects.support.bindings import ir

ControlKind = Literal["repeat", "while", "if", "switch"]


@dataclass(frozen=True)
class Flow:
    """Operands of ``source``, from number ``first`` on, become ``targets``, one each.

    ``source`` is the region op for what goes in, and for what a loop that does not run yields; or the terminator of a
    block, for what goes on to a block or comes out.
    """

    source: ir.Operation
    first: int
    targets: tuple[ir.Value, ...]

    def values(self) -> list[ir.Value]:
        """The operands that go this way."""
        return list(self.source.operands)[self.first : self.first + len(self.targets)]


@dataclass(frozen=True)
class ControlOp:
    """The way in which an op runs its regions."""

    flows: Callable[[ir.Operation], tuple[Flow, ...]]
    """In an order in which every value has come somewhere before it goes on, if blocks are visited where they end."""

    kind: ControlKind
    """The order in which its blocks run: ``repeat`` its only one a number of times, ``while`` both as long as the first
    says so; of any other, one of them or none."""

    block_names: Callable[[ir.Operation], list[str]]
    """What its blocks are called, in the order of the regions, those that have no block as well."""

    decided_by: Callable[[ir.Operation], list[ir.Value]]
    """The numbers that say which blocks run, and how often."""

    trip_count: Callable[[ir.Operation], int | None] = lambda op: None
    """The iterations of the last region each time the op runs; None where they are known only at run time."""

    @property
    def repeats(self) -> bool:
        """True if its blocks may run more than once each time the op runs: a loop."""
        return self.kind in ("repeat", "while")


def control_op(op: ir.Operation) -> ControlOp | None:
    """The row of ``op``; None for an op that no control flow goes through (linalg has regions, but no control flow)."""
    return CONTROL_OPS.get(op.name)


def is_loop(op: ir.Operation) -> bool:
    """True if the blocks of ``op`` may run more than once each time it runs."""
    row = CONTROL_OPS.get(op.name)
    return row is not None and row.repeats


def is_branch(op: ir.Operation) -> bool:
    """True if ``op`` runs one of its blocks, or none."""
    row = CONTROL_OPS.get(op.name)
    return row is not None and not row.repeats


def flows(op: ir.Operation) -> tuple[Flow, ...]:
    """The flows of a region op of ``CONTROL_OPS``, in the order in which values go along them; none for other ops."""
    row = CONTROL_OPS.get(op.name)
    return row.flows(op) if row is not None else ()


def sources_of(value: ir.Value) -> list[ir.Value]:
    """The values that ``value`` can be, if it is a result or an argument of a block of a control op; else none."""
    op = defining_op(value) or block_of(value).owner.operation
    ways = (flow for flow in flows(op) if value in flow.targets)
    return [flow.source.operands[flow.first + flow.targets.index(value)] for flow in ways]


def op_around(op: ir.Operation) -> ir.Operation:
    """The op that ``op`` stands in, through loops and branches: a function, where all are in their place."""
    around = op.parent.operation
    while control_op(around) is not None:
        around = around.parent.operation
    return around


def is_terminator(op: ir.Operation) -> bool:
    """True if ``op`` ends a block of a function or of a region op."""
    return op.name in TERMINATORS


def blocks_of(op: ir.Operation) -> Iterator[ir.Block]:
    """The blocks of ``op``, in the order of its regions."""
    for region in op.regions:
        yield from region.blocks


def enclosing_loop(op: ir.Operation) -> ir.Operation | None:
    """The loop whose block ``op`` stands in; None if what is around it is no loop."""
    parent = op.parent
    return parent.operation if parent is not None and is_loop(parent.operation) else None


def _for_flows(op: ir.Operation) -> tuple[Flow, ...]:
    body = op.regions[0].blocks[0]
    carried, results, end = tuple(body.arguments)[1:], tuple(op.results), terminator(body)
    return Flow(op, 3, carried), Flow(op, 3, results), Flow(end, 0, carried), Flow(end, 0, results)


def _while_flows(op: ir.Operation) -> tuple[Flow, ...]:
    before, after = (region.blocks[0] for region in op.regions)
    carried, going_on = tuple(before.arguments), terminator(before)
    return (
        Flow(op, 0, carried),
        Flow(going_on, 1, tuple(after.arguments)),
        Flow(going_on, 1, tuple(op.results)),
        Flow(terminator(after), 0, carried),
    )


def _branch_flows(op: ir.Operation) -> tuple[Flow, ...]:
    return tuple(Flow(terminator(block), 0, tuple(op.results)) for block in blocks_of(op))


def _for_trip_count(loop: ir.Operation) -> int | None:
    bounds = [integer_of(value) for value in list(loop.operands)[:3]]
    if any(bound is None for bound in bounds):
        return None
    low, end, step = (bound for bound in bounds if bound is not None)
    if "unsignedCmp" in loop.attributes:
        low, end = (bound % (1 << _width(loop.operands[0].type)) for bound in (low, end))
    return max(0, -(-(end - low) // step)) if step > 0 else None


def _width(integer: ir.Type) -> int:
    return integer.width if isinstance(integer, ir.IntegerType) else 64


def counter_of(block: ir.Block) -> tuple[ir.Value, ir.Operation] | None:
    """The number that a loop counts in ``block``, and the loop: its first operands are begin, end and step."""
    op = block.owner.operation
    row = CONTROL_OPS.get(op.name)
    return (block.arguments[0], op) if row is not None and row.kind == "repeat" else None


CONTROL_OPS: dict[str, ControlOp] = {
    "scf.for": ControlOp(_for_flows, "repeat", lambda op: ["body"], lambda op: list(op.operands)[:3], _for_trip_count),
    "scf.while": ControlOp(
        _while_flows,
        "while",
        lambda op: ["condition", "body"],
        lambda op: [terminator(op.regions[0].blocks[0]).operands[0]],
    ),
    "scf.if": ControlOp(_branch_flows, "if", lambda op: ["then", "else"], lambda op: list(op.operands)),
    "scf.index_switch": ControlOp(
        _branch_flows,
        "switch",
        lambda op: ["default", *(f"case {x}" for x in ir.DenseI64ArrayAttr(op.attributes["cases"]))],
        lambda op: list(op.operands),
    ),
}
"""The ops that control flow goes through."""

TERMINATORS = frozenset(("func.return", "scf.condition", "scf.yield"))
"""The ops that end the blocks of functions and of ``CONTROL_OPS``."""
