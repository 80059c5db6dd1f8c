"""Cycles that ops waste, put together so that many equal findings become one piece of advice."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.tools.report.advice.entry import Numbers

_ALONE = 0.03
"""Share of all cycles from which an op gets a piece of advice of its own."""


@dataclass(frozen=True)
class Waste:
    """``cycles`` of all executions that a step of an op need not take."""

    op: int | None
    step: int | None
    cycles: float


@dataclass(frozen=True)
class Group:
    """Ops of one name that waste cycles in the same way: ``worst`` most of all."""

    worst: Waste
    cycles: float
    ops: int

    def title(self, numbers: Numbers) -> str:
        """``linalg.matmul (net.mlir:3:8)``, or ``12 linalg.matmul, the worst at net.mlir:3:8``."""
        op = numbers.ops.get(self.worst.op) if self.worst.op is not None else None
        if op is None:
            return "steps without an op"
        if self.ops == 1:
            return f"{op.name} ({op.location})" if op.location else op.name
        return f"{counted(self.ops, op.name, op.name)}{f', the worst at {op.location}' if op.location else ''}"


def groups(numbers: Numbers, wastes: Iterable[Waste]) -> Iterator[Group]:
    """The wastes by op; those of small ops by the names of the ops."""
    by_op: dict[int | None, list[Waste]] = defaultdict(list)
    for waste in wastes:
        by_op[waste.op].append(waste)
    small: dict[str, list[list[Waste]]] = defaultdict(list)
    for op, found in by_op.items():
        if numbers.share(_sum(found)) >= _ALONE:
            yield _group([found])
        else:
            small[numbers.ops[op].name if op in numbers.ops else ""].append(found)
    yield from map(_group, small.values())


def _group(ops: list[list[Waste]]) -> Group:
    most = max(ops, key=_sum)
    return Group(max(most, key=lambda waste: waste.cycles), sum(map(_sum, ops)), len(ops))


def _sum(wastes: list[Waste]) -> float:
    return sum(waste.cycles for waste in wastes)
