"""The tree of a superstep program: which steps there are, in which blocks, under which control flow.

A *step* is an op that takes time of the machine. Steps and blocks are numbered in program order, once for each place in
the text: how often a step runs is how often its block is entered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ipu_mlir.dialects.support.bindings import ir

StepKind = Literal["compute", "exchange", "control", "host_exchange", "collective"]


@dataclass(frozen=True, eq=False)
class Step:
    """An op that takes time: a compute set, an exchange, a scalar that control flow learns.

    Attributes:
        number: how many steps stand before it in the text.
        op: the op.
        kind: what the machine does.
    """

    number: int
    op: ir.Operation
    kind: StepKind


@dataclass(frozen=True, eq=False)
class Sequence:
    """A block: what runs one after the other whenever control flow enters it.

    Attributes:
        number: how many blocks stand before it in the tree; the number of executions of a block has this as its key.
        block: the block; its other ops take no time.
        children: its steps and its control flow, in order.
    """

    number: int
    block: ir.Block
    children: tuple["Node", ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """``scf.for``: a body that runs ``count`` times, None where that is known only at run time."""

    op: ir.Operation
    body: Sequence
    count: int | None


@dataclass(frozen=True, eq=False)
class While:
    """``scf.while``: the condition runs once more often than the body; how often is known only at run time."""

    op: ir.Operation
    condition: Sequence
    body: Sequence


@dataclass(frozen=True, eq=False)
class Branch:
    """``scf.if`` and ``scf.index_switch``: one of the bodies runs, or none.

    Attributes:
        op: the op.
        bodies: one per region that has a block, in the order of the regions; of a switch, the default comes first.
    """

    op: ir.Operation
    bodies: tuple[Sequence, ...]


@dataclass(frozen=True, eq=False)
class Call:
    """``func.call``: the body of the callee runs; all calls of one function share its ``body``."""

    op: ir.Operation
    callee: str
    body: Sequence


Node: TypeAlias = Step | Sequence | Repeat | While | Branch | Call


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below ``node``, in program order."""
    match node:
        case Step():
            return ()
        case Sequence():
            return node.children
        case Repeat() | Call():
            return (node.body,)
        case While():
            return node.condition, node.body
        case Branch():
            return node.bodies


def steps(node: Node) -> list[Step]:
    """The steps at and below ``node`` by rising number, each once."""
    found = {each.number: each for each in _nodes(node) if isinstance(each, Step)}
    return [found[number] for number in sorted(found)]


def sequences(node: Node) -> list[Sequence]:
    """The blocks at and below ``node`` by rising number, each once."""
    found = {each.number: each for each in _nodes(node) if isinstance(each, Sequence)}
    return [found[number] for number in sorted(found)]


def control_nodes(node: Node) -> list[Node]:
    """The loops, branches and calls at and below ``node``, each once."""
    return [each for each in _nodes(node) if not isinstance(each, Step | Sequence)]


def own_control_nodes(node: Node) -> list[Node]:
    """The loops, branches and calls at and below ``node``, without those in the functions that it calls."""
    return [each for each in _nodes(node, into_calls=False) if not isinstance(each, Step | Sequence)]


def _nodes(root: Node, *, into_calls: bool = True) -> Iterator[Node]:
    """Every node once, also those that several calls share."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            if into_calls or not isinstance(node, Call):
                pending += children(node)
