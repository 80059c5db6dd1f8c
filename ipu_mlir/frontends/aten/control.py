"""Loops and branches of PyTorch, ``torch.while_loop``, ``cond``, ``scan`` and ``map``, whose bodies are graphs."""

from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.frontends.aten.rules import rule
from ipu_mlir.tracing.control.branches import cond
from ipu_mlir.tracing.control.loops import while_loop
from ipu_mlir.tracing.control.scans import scan

Graph = Callable[..., tuple[Any, ...]]
"""What a body gives for its arguments."""


@rule("higher_order.while_loop")
def _while_loop(condition: Graph, body: Graph, carried: Sequence[Any], outside: Sequence[Any] = ()) -> Any:
    return while_loop(
        lambda state: condition(*state, *outside)[0], lambda state: body(*state, *outside), tuple(carried)
    )


@rule("higher_order.cond")
def _cond(holds: Any, then: Graph, otherwise: Graph, operands: Sequence[Any]) -> Any:
    return cond(holds, then, otherwise, *operands)


@rule("higher_order.scan")
def _scan(combine: Graph, init: Sequence[Any], xs: Sequence[Any], outside: Sequence[Any] = ()) -> Any:
    count = len(init)

    def step(carry: tuple[Any, ...], elements: tuple[Any, ...]) -> Any:
        made = combine(*carry, *elements, *outside)
        return made[:count], made[count:]

    carry, stacked = scan(step, tuple(init), tuple(xs))
    return *carry, *stacked


@rule("higher_order.map_impl")
def _map(body: Graph, xs: Sequence[Any], outside: Sequence[Any]) -> Any:
    return scan(lambda _, elements: (None, body(*elements, *outside)), None, tuple(xs))[1]
