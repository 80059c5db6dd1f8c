"""Scalar bodies of loop nests as graphs of NumPy-like calls."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.statements.access import Access, Buffer


@dataclass(frozen=True, eq=False)
class Expression:
    """A scalar value of ``dtype`` at every point of a loop nest; compared by identity."""

    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False)
class Const(Expression):
    """The same scalar everywhere."""

    value: Any

    @staticmethod
    def of(value: Any, dtype: np.dtype[Any]) -> "Const":
        return Const(dtype, np.asarray(value).astype(dtype)[()])


@dataclass(frozen=True, eq=False)
class Read(Expression):
    """The element that ``access`` names."""

    access: Access


@dataclass(frozen=True, eq=False)
class LoopNumber(Expression):
    """The variable of a loop around, which ``buffer`` holds too, plus ``offset``, as a number of the generated code."""

    buffer: Buffer
    offset: int = 0


@dataclass(frozen=True, eq=False)
class Gather(Expression):
    """The element at ``access`` plus ``index`` times ``stride``: an element that depends on data.

    An index outside of 0 .. ``limit`` - 1 is taken for the nearest inside.
    """

    access: Access
    index: Expression
    stride: int
    limit: int


@dataclass(frozen=True, eq=False)
class Slice(Expression):
    """The elements at ``access`` of a box of its buffer, all of which is known to lie inside.

    ``starts``, ``sizes`` and ``steps`` have one entry per dimension of the buffer's shape; a size is None where a
    single index stands.
    """

    access: Access
    starts: tuple[Expression, ...]
    sizes: tuple[int | None, ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Accumulator(Expression):
    """The running value of output ``index`` of a reduction."""

    index: int


@dataclass(frozen=True, eq=False)
class Apply(Expression):
    """``call`` of ``args``: a NumPy ufunc, a function of ``ipu_mlir.runtime.numeric``, or ``cast`` / ``bits``.

    ``cast`` converts to ``dtype`` as C does; ``bits`` reinterprets the bits and costs nothing.
    """

    call: str
    args: tuple[Expression, ...]


def apply(call: str, *args: Expression, dtype: np.dtype[Any] | None = None) -> Apply:
    """``call`` of ``args``; the result has the type of the first argument unless told."""
    return Apply(args[0].dtype if dtype is None else dtype, call, args)


def cast(value: Expression, dtype: np.dtype[Any]) -> Expression:
    """``value`` converted to ``dtype`` as C converts."""
    return value if value.dtype == dtype else Apply(dtype, "cast", (value,))


def bits(value: Expression, dtype: np.dtype[Any]) -> Expression:
    """The bits of ``value`` read as ``dtype``."""
    return value if value.dtype == dtype else Apply(dtype, "bits", (value,))


def arguments(node: Expression) -> tuple[Expression, ...]:
    """The expressions that ``node`` is computed from."""
    if type(node) is Apply:
        return node.args
    if isinstance(node, Slice):
        return node.starts
    return (node.index,) if isinstance(node, Gather) else ()


def postorder(roots: Iterable[Expression]) -> list[Expression]:
    """Every node once, arguments before users, the heavier argument first (that needs fewer temporaries)."""
    return list(dict.fromkeys(chain.from_iterable(map(_nodes, roots))))


def _nodes(root: Expression) -> tuple[Expression, ...]:
    """The order of one root, which keeps it: pass after pass asks for it."""
    known: tuple[Expression, ...] | None = root.__dict__.get("nodes")
    if known is not None:
        return known
    order: dict[Expression, Sequence[Expression]] = {}
    weight: dict[Expression, int] = {}
    for node in _depth_first(root, arguments) if arguments(root) else (root,):
        args = order[node] = arguments(node)
        if len(args) > 1:
            args = order[node] = sorted(args, key=lambda arg: -weight[arg])
        weight[node] = max([weight[arg] + i for i, arg in enumerate(args)], default=0)
    nodes = tuple(_depth_first(root, order.__getitem__))
    root.__dict__["nodes"] = nodes
    return nodes


def _depth_first(root: Expression, order: Callable[[Expression], Sequence[Expression]]) -> Iterable[Expression]:
    """Every node once, after what ``order`` says it is computed from."""
    done: dict[Expression, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        if node not in done:
            if waiting := [arg for arg in order(node) if arg not in done]:
                stack += waiting[::-1]
                continue
            done[node] = None
        stack.pop()
    return done


def rewrite(roots: Iterable[Expression], change: Callable[[Expression], Expression]) -> list[Expression]:
    """``roots`` with ``change`` applied to every node, arguments first; nodes of equal content become one."""
    roots = list(roots)
    new: dict[int, Expression] = {}
    known: dict[Any, Expression] = {}
    for node in postorder(roots):
        match node:
            case Apply():
                args = tuple(new[id(arg)] for arg in node.args)
                fresh = change(node if args == node.args else Apply(node.dtype, node.call, args))
            case Gather():
                index = new[id(node.index)]
                fresh = change(node if index is node.index else replace(node, index=index))
            case Slice():
                starts = tuple(new[id(start)] for start in node.starts)
                fresh = change(node if starts == node.starts else replace(node, starts=starts))
            case _:
                fresh = change(node)
        new[id(node)] = known.setdefault(_content(fresh), fresh)
    return [new[id(root)] for root in roots]


def _content(node: Expression) -> Any:
    """Equal for nodes that stand for equal values."""
    match node:
        case Const():
            return ("const", node.dtype, node.value.tobytes())
        case Read():
            return ("read", node.dtype, node.access)
        case Accumulator():
            return ("accumulator", node.index)
        case LoopNumber():
            return ("number", node.dtype, node.buffer, node.offset)
        case Gather():
            return ("gather", node.dtype, node.access, id(node.index), node.stride, node.limit)
        case Slice():
            return ("slice", node.dtype, node.access, tuple(map(id, node.starts)), node.sizes, node.steps)
        case Apply():
            return (node.call, node.dtype, tuple(map(id, node.args)))
    raise AssertionError(f"unknown node {node!r}")


def reads(roots: Iterable[Expression]) -> list[Access]:
    """The accesses of all reads, each once. A gather may read anything in its buffer: its access has strides of 0."""
    found: dict[Access, None] = {}
    for node in postorder(roots):
        if isinstance(node, Read):
            found[node.access] = None
        elif isinstance(node, Gather):
            found[replace(node.access, offset=0, strides=(0,) * len(node.access.strides))] = None
    return list(found)


def moving_accesses(roots: Iterable[Expression]) -> list[Access]:
    """The accesses of all reads and gathers as they move with the loops, each once."""
    return list(dict.fromkeys(node.access for node in postorder(roots) if isinstance(node, Read | Gather)))


def gathers(roots: Iterable[Expression]) -> list[Gather]:
    """The gathers that ``roots`` are computed from."""
    return [node for node in postorder(roots) if isinstance(node, Gather)]


def loops_of(root: Expression) -> frozenset[int]:
    """The loops that ``root`` may have another value for each point of."""
    nodes = _nodes(root)
    return frozenset().union(*(node.access.loops() for node in nodes if isinstance(node, Read | Gather)))


def uses_accumulator(root: Expression) -> bool:
    """True if some running value of a reduction flows into ``root``."""
    return any(isinstance(node, Accumulator) for node in _nodes(root))
