"""Statements of random programs on state. One class each, which a machine runs: a tracer, or NumPy on arrays."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Kind = tuple[tuple[int, ...], str]
"""Shape and element type."""
Block = tuple["Statement", ...]


class Machine(Protocol):
    """The operations of a program; values are its own, numbers are the same in all replicas."""

    def kind(self, value: Any) -> Kind: ...
    def pure(self, name: str, one: Any, other: Any) -> Any: ...
    def form(self, name: str, value: Any, number: Any) -> Any: ...
    def read(self, name: str) -> Any: ...
    def number_of(self, name: str) -> Any: ...
    def assign(self, name: str, value: Any) -> None: ...
    def load(self, row: Any) -> Any: ...
    def store(self, row: Any, value: Any) -> None: ...
    def dequeue(self) -> Any: ...
    def enqueue(self, value: Any) -> None: ...
    def fifo(self, number: int, depth: int, value: Any, is_offloaded: bool) -> Any: ...
    def collective(self, name: Any, value: Any, group: int) -> Any: ...
    def on_shard(self, index: int) -> AbstractContextManager[None]: ...
    def within(self, name: Any, values: list[Any]) -> list[Any]: ...
    def limited(self, number: Any, most: int) -> Any: ...
    def is_above(self, number: Any, bound: int) -> Any: ...
    def is_positive(self, value: Any) -> Any: ...
    def repeat(self, rounds: Any, body: Callable[[Any, list[Any]], list[Any]], carried: list[Any]) -> list[Any]: ...
    def repeat_while(
        self, rounds: int, body: Callable[[Any, list[Any]], list[Any]], carried: list[Any]
    ) -> list[Any]: ...
    def repeat_until(self, variable: str, rounds: int, body: Callable[[], None]) -> None: ...
    def choose(self, test: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]: ...
    def switch(self, number: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]: ...
    def scan(self, body: Callable[[list[Any], Any], tuple[list[Any], Any]], carried: list[Any], rows: Any) -> Any: ...
    def outlined(self, body: Callable[..., list[Any]]) -> Callable[..., list[Any]]: ...


@dataclass(frozen=True)
class Scope:
    """What statements see: values so far, and numbers for indices and tests."""

    machine: Machine
    values: list[Any]
    numbers: list[Any]

    def run(self, block: Block) -> None:
        for statement in block:
            statement.run(self)

    def inner(self, *values: Any, numbers: Sequence[Any] = ()) -> "Scope":
        """A scope for a block inside: it sees the first and the last values of this one."""
        return Scope(self.machine, [*self.values[:2], *self.values[-2:], *values], [*self.numbers, *numbers])

    def pick(self, place: float, suits: Callable[[Kind], bool] = lambda kind: True) -> Any:
        """One of the values that suit; None if there is none."""
        found = [value for value in self.values if suits(self.machine.kind(value))]
        return found[int(place * len(found))] if found else None

    def like(self, place: float, value: Any) -> Any:
        """A value of the kind of another, rather one of the last."""
        kind = self.machine.kind(value)
        found = [each for each in self.values if self.machine.kind(each) == kind][-3:]
        return found[int(place * len(found))] if found else value

    def number(self, place: float) -> Any:
        return self.numbers[int(place * len(self.numbers))]


class Statement(Protocol):
    def run(self, scope: Scope) -> None: ...


def _has_rows(kind: Kind) -> bool:
    return len(kind[0]) > 0


@dataclass(frozen=True)
class Pure:
    name: str
    one: float
    other: float

    def run(self, scope: Scope) -> None:
        one = scope.pick(self.one)
        scope.values.append(scope.machine.pure(self.name, one, scope.like(self.other, one)))


@dataclass(frozen=True)
class Form:
    """An update of a copy, whatever the value came from."""

    name: str
    of: float
    number: float

    def run(self, scope: Scope) -> None:
        value = scope.pick(self.of, _has_rows)
        if value is not None:
            scope.values.append(scope.machine.form(self.name, value, scope.number(self.number)))


@dataclass(frozen=True)
class Read:
    variable: str

    def run(self, scope: Scope) -> None:
        scope.values.append(scope.machine.read(self.variable))


@dataclass(frozen=True)
class Assign:
    """A variable becomes an operation of what it is and another value."""

    variable: str
    name: str
    of: float
    is_swapped: bool

    def run(self, scope: Scope) -> None:
        old = scope.machine.read(self.variable)
        other = scope.like(self.of, old)
        pair = (old, other) if self.is_swapped else (other, old)
        scope.machine.assign(self.variable, scope.machine.pure(self.name, *pair))


@dataclass(frozen=True)
class Update:
    """A variable becomes an update of itself by an index; its old value may be used later."""

    variable: str
    name: str
    number: float
    keeps_old: bool

    def run(self, scope: Scope) -> None:
        old = scope.machine.read(self.variable)
        if _has_rows(scope.machine.kind(old)):
            scope.machine.assign(self.variable, scope.machine.form(self.name, old, scope.number(self.number)))
        if self.keeps_old:
            scope.values.append(old)


@dataclass(frozen=True)
class Swap:
    one: str
    other: str

    def run(self, scope: Scope) -> None:
        one, other = scope.machine.read(self.one), scope.machine.read(self.other)
        scope.machine.assign(self.one, other)
        scope.machine.assign(self.other, one)


@dataclass(frozen=True)
class Load:
    number: float

    def run(self, scope: Scope) -> None:
        scope.values.append(scope.machine.load(scope.number(self.number)))


@dataclass(frozen=True)
class Store:
    number: float
    of: float
    kind: Kind

    def run(self, scope: Scope) -> None:
        value = scope.pick(self.of, lambda kind: kind == self.kind)
        if value is not None:
            scope.machine.store(scope.number(self.number), value)


@dataclass(frozen=True)
class Dequeue:
    def run(self, scope: Scope) -> None:
        scope.values.append(scope.machine.dequeue())


@dataclass(frozen=True)
class Enqueue:
    of: float
    kind: Kind

    def run(self, scope: Scope) -> None:
        value = scope.pick(self.of, lambda kind: kind == self.kind)
        if value is not None:
            scope.machine.enqueue(value)


@dataclass(frozen=True)
class Fifo:
    place: int
    depth: int
    of: float
    is_offloaded: bool

    def run(self, scope: Scope) -> None:
        value = scope.pick(self.of)
        scope.values.append(scope.machine.fifo(self.place, self.depth, value, self.is_offloaded))


@dataclass(frozen=True)
class Collective:
    """Values of ``group`` replicas each, which follow one another."""

    name: str
    of: float
    group: int

    def run(self, scope: Scope) -> None:
        value = scope.pick(self.of, lambda kind: kind[1] in ("int32", "float32", "float16"))
        if value is not None:
            scope.values.append(scope.machine.collective(self.name, value, self.group))


@dataclass(frozen=True)
class OnShard:
    """A block whose operations are on one IPU, or for -1 on all."""

    index: int
    body: Block

    def run(self, scope: Scope) -> None:
        with scope.machine.on_shard(self.index):
            inner = scope.inner()
            known = len(inner.values)
            inner.run(self.body)
        scope.values.extend(inner.values[known:][-2:])


@dataclass(frozen=True)
class Within:
    """A collective of the IPUs of a replica, of which one gives what it has afterwards."""

    name: str
    of: float
    ipus: int
    given: int

    def run(self, scope: Scope) -> None:
        machine = scope.machine
        value = scope.pick(self.of, lambda kind: len(kind[0]) == 1 and kind[1] in ("int32", "float32", "float16"))
        if value is None:
            return
        values = []
        for index in range(self.ipus):
            with machine.on_shard(index):
                values.append(value := machine.pure("difference", machine.form("reverse", value, 0), value))
        scope.values.append(machine.within(self.name, values)[self.given])


@dataclass(frozen=True)
class Loop:
    """``for`` of a constant or a given number of iterations, or ``while``."""

    form: str
    rounds: int
    body: Block
    carried: tuple[float, ...]
    is_swapped: bool

    def run(self, scope: Scope) -> None:
        machine, carried = scope.machine, [scope.pick(each) for each in self.carried]

        def body(number: Any, values: list[Any]) -> list[Any]:
            inner = scope.inner(*values, numbers=[number])
            inner.run(self.body)
            new = [inner.like(place, value) for place, value in zip(self.carried, values, strict=True)]
            if self.is_swapped and len(values) > 1 and machine.kind(values[0]) == machine.kind(values[1]):
                new[0], new[1] = values[1], values[0]
            return new

        if self.form == "while":
            scope.values.extend(machine.repeat_while(self.rounds, body, carried))
        else:
            rounds = machine.limited(scope.numbers[0], self.rounds) if self.form == "given" else self.rounds
            scope.values.extend(machine.repeat(rounds, body, carried))


@dataclass(frozen=True)
class CountUp:
    """A ``while`` that a variable ends: each iteration adds one to it."""

    variable: str
    rounds: int
    body: Block

    def run(self, scope: Scope) -> None:
        def body() -> None:
            inner = scope.inner(numbers=[scope.machine.number_of(self.variable)])
            inner.run(self.body)

        scope.machine.repeat_until(self.variable, self.rounds, body)


@dataclass(frozen=True)
class Branch:
    """A test of a number, or of a variable where there is one replica."""

    bound: int
    tested: str | None
    yes: Block
    no: Block
    given: tuple[float, ...]

    def run(self, scope: Scope) -> None:
        machine, arms = scope.machine, _arms(scope, (self.yes, self.no), self.given)
        test = machine.is_above(scope.numbers[0], self.bound)
        if self.tested is not None:
            test = machine.is_positive(machine.read(self.tested))
        scope.values.extend(machine.choose(test, arms))


@dataclass(frozen=True)
class Switch:
    """A branch by a number, of which the nearest arm is taken."""

    arms: tuple[Block, ...]
    number: float
    given: tuple[float, ...]

    def run(self, scope: Scope) -> None:
        arms = _arms(scope, self.arms, self.given)
        scope.values.extend(scope.machine.switch(scope.number(self.number), arms))


def _arms(scope: Scope, blocks: Sequence[Block], places: Sequence[float]) -> list[Callable[[], list[Any]]]:
    """Functions that run ``blocks`` on values of ``scope`` and give others of their kinds."""
    given = [scope.pick(each) for each in places]

    def arm(block: Block) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            inner = scope.inner(*given)
            inner.run(block)
            return [inner.like(place, value) for place, value in zip(places, given, strict=True)]

        return run

    return [arm(block) for block in blocks]


@dataclass(frozen=True)
class Scan:
    body: Block
    over: float
    carried: float

    def run(self, scope: Scope) -> None:
        rows, start = scope.pick(self.over, _has_rows), scope.pick(self.carried)
        if rows is None:
            return

        def body(values: list[Any], row: Any) -> tuple[list[Any], Any]:
            inner = scope.inner(*values, row)
            inner.run(self.body)
            return [inner.like(self.carried, each) for each in values], inner.like(self.over, row)

        carried, results = scope.machine.scan(body, [start], rows)
        scope.values.extend([*carried, results])


@dataclass(frozen=True)
class Outlined:
    """A function that is called once or twice; it reads and assigns variables as well."""

    body: Block
    given: tuple[float, ...]
    calls: int

    def run(self, scope: Scope) -> None:
        def body(*values: Any) -> list[Any]:
            inner = scope.inner(*values)
            inner.run(self.body)
            return [inner.like(place, value) for place, value in zip(self.given, values, strict=True)]

        function = scope.machine.outlined(body)
        values = [scope.pick(each) for each in self.given]
        for _ in range(self.calls):
            values = function(*values)
            scope.values.extend(values)
