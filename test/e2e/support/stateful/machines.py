"""Machines that run the statements of random programs on state: one traces them, one is NumPy on arrays."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from support.stateful.operations import FORMS, PURE, bounded
from support.stateful.statements import Kind

import ipu_mlir as ipu

Body = Callable[[Any, list[Any]], list[Any]]
ROUNDS_OF_WHILE = np.int32(6)


class Tracer:
    """Statements become a program; values are tensors."""

    def __init__(
        self,
        replicas: int,
        variables: dict[str, ipu.Variable],
        rows: ipu.RemoteBuffer,
        infeed: ipu.Infeed,
        outfeed: ipu.Outfeed,
        partitioned: Collection[str],
    ) -> None:
        self.replicas, self.variables, self.partitioned = replicas, variables, partitioned
        self.rows, self.infeed, self.outfeed = rows, infeed, outfeed

    def kind(self, value: Any) -> Kind:
        return tuple(value.shape), str(np.dtype(value.dtype))

    def pure(self, name: str, one: Any, other: Any) -> Any:
        return PURE[name](one, other).astype(one.dtype)

    def form(self, name: str, value: Any, number: Any) -> Any:
        return FORMS[name](value, number)

    def read(self, name: str) -> Any:
        return self.variables[name].value

    def number_of(self, name: str) -> Any:
        return self.variables[name].value

    def assign(self, name: str, value: Any) -> None:
        self.variables[name].assign(self._stored(name, value))

    def load(self, row: Any) -> Any:
        return self.rows.load(self._row(row))

    def store(self, row: Any, value: Any) -> None:
        self.rows.store(self._row(row), self._stored("rows", value))

    def _stored(self, name: str, value: Any) -> Any:
        return ipu.broadcast(value, 0) if name in self.partitioned and self.replicas > 1 else value

    def _row(self, number: Any) -> Any:
        return np.minimum(np.maximum(number, np.int32(0)), np.int32(self.rows.spec.shape[0] - 1))

    def dequeue(self) -> Any:
        return self.infeed.dequeue()

    def enqueue(self, value: Any) -> None:
        self.outfeed.enqueue(value)

    def fifo(self, number: int, depth: int, value: Any, is_offloaded: bool) -> Any:
        return ipu.fifo(value, depth, offload=is_offloaded)

    def collective(self, name: Any, value: Any, group: int) -> Any:
        if name == "index":
            return (value + ipu.replica_index()).astype(value.dtype)
        if name == "last":
            return ipu.broadcast(value, group - 1, group)
        if name == "gather":
            return ipu.all_gather(value, group)[group // 2]
        return bounded(ipu.all_reduce(value, name, group))

    def on_shard(self, index: int) -> AbstractContextManager[None]:
        return ipu.shard(index)

    def within(self, name: Any, values: list[Any]) -> list[Any]:
        if name == "gather":
            return [each[: len(values[0])] for each in ipu.within_replica.all_gather(values)]
        return [bounded(each) for each in ipu.within_replica.all_reduce(values, name)]

    def limited(self, number: Any, most: int) -> Any:
        return np.minimum(np.maximum(number, np.int32(0)), np.int32(most))

    def is_above(self, number: Any, bound: int) -> Any:
        return number > np.int32(bound)

    def is_positive(self, value: Any) -> Any:
        first = value.reshape(-1)[0]
        return first if first.dtype == bool else first > 0

    def repeat(self, rounds: Any, body: Body, carried: list[Any]) -> list[Any]:
        return list(ipu.fori_loop(np.int32(0), rounds, lambda i, each: tuple(body(i, list(each))), tuple(carried)))

    def repeat_while(self, rounds: int, body: Body, carried: list[Any]) -> list[Any]:
        end, one = np.int32(rounds), np.int32(1)
        found = ipu.while_loop(
            lambda each: (each[0] < end) & (each[0] < ROUNDS_OF_WHILE),
            lambda each: (each[0] + one, *body(each[0], list(each[1:]))),
            (np.int32(0), *carried),
        )
        return list(found[1:])

    def repeat_until(self, variable: str, rounds: int, body: Callable[[], None]) -> None:
        counter, one = self.variables[variable], np.int32(1)
        end = counter.value + np.int32(rounds)

        def step(nothing: Any) -> Any:
            body()
            counter.assign(counter.value + one)
            return nothing

        ipu.while_loop(lambda nothing: counter.value < end, step, ())

    def choose(self, test: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]:
        yes, no = arms
        return list(ipu.cond(test, lambda: tuple(yes()), lambda: tuple(no())))

    def switch(self, number: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]:
        return list(ipu.switch(number, [lambda arm=arm: tuple(arm()) for arm in arms]))

    def scan(self, body: Any, carried: list[Any], rows: Any) -> Any:
        def step(each: Any, row: Any) -> Any:
            new, result = body(list(each), row)
            return tuple(new), result

        found, results = ipu.scan(step, tuple(carried), rows)
        return list(found), results

    def outlined(self, body: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        function = ipu.outlined(lambda *values: tuple(body(*values)))
        return lambda *values: list(function(*values))


class Arrays:
    """Statements run with NumPy; a value is a list with one array for each replica."""

    def __init__(
        self,
        replicas: int,
        variables: dict[str, np.ndarray],
        rows: np.ndarray,
        elements: Iterator[np.ndarray],
        partitioned: Collection[str],
    ) -> None:
        self.replicas, self.partitioned = replicas, partitioned
        self.variables = {name: self.same(value) for name, value in variables.items()}
        self.rows = self.same(rows)
        self.elements = elements
        self.given: list[list[np.ndarray]] = []
        self.entry = ""
        self._late: dict[tuple[str, int], list[Any]] = {}

    def same(self, value: Any) -> list[np.ndarray]:
        """A value that is the same for all replicas."""
        return [np.array(value) for _ in range(self.replicas)]

    def kind(self, value: list[np.ndarray]) -> Kind:
        return value[0].shape, str(value[0].dtype)

    def pure(self, name: str, one: Any, other: Any) -> Any:
        return [np.array(PURE[name](x, y)).astype(x.dtype) for x, y in zip(one, other, strict=True)]

    def form(self, name: str, value: Any, number: Any) -> Any:
        return [np.array(FORMS[name](each, number)) for each in value]

    def read(self, name: str) -> Any:
        return [each.copy() for each in self.variables[name]]

    def number_of(self, name: str) -> Any:
        return self.variables[name][0]

    def assign(self, name: str, value: Any) -> None:
        self.variables[name] = self._stored(name, value)

    def load(self, row: Any) -> Any:
        return [each[self._row(row)].copy() for each in self.rows]

    def store(self, row: Any, value: Any) -> None:
        for rows, each in zip(self.rows, self._stored("rows", value), strict=True):
            rows[self._row(row)] = each

    def _stored(self, name: str, value: list[np.ndarray]) -> list[np.ndarray]:
        return self.same(value[0]) if name in self.partitioned else [each.copy() for each in value]

    def _row(self, number: Any) -> int:
        return min(max(int(number), 0), len(self.rows[0]) - 1)

    def dequeue(self) -> Any:
        return [next(self.elements) for _ in range(self.replicas)]

    def enqueue(self, value: Any) -> None:
        self.given.append([each.copy() for each in value])

    def fifo(self, number: int, depth: int, value: Any, is_offloaded: bool) -> Any:
        late = self._late.setdefault((self.entry, number), [[np.zeros_like(each) for each in value]] * depth)
        self._late[self.entry, number] = [*late[1:], [each.copy() for each in value]]
        return [each.copy() for each in late[0]]

    def collective(self, name: Any, value: Any, group: int) -> Any:
        if name == "index":
            return [(each + np.int32(replica)).astype(each.dtype) for replica, each in enumerate(value)]
        return [
            found
            for first in range(0, self.replicas, group)
            for found in [self._of_group(name, value[first : first + group])] * group
        ]

    def _of_group(self, name: str, values: list[np.ndarray]) -> np.ndarray:
        if name in ("last", "gather"):
            return values[-1 if name == "last" else len(values) // 2]
        total = {"sum": np.sum, "max": np.max, "min": np.min}[name](np.stack(values), axis=0)
        return np.asarray(bounded(np.asarray(total).astype(values[0].dtype)))

    def on_shard(self, index: int) -> AbstractContextManager[None]:
        return nullcontext()

    def within(self, name: Any, values: list[Any]) -> list[Any]:
        name = "first" if name == "gather" else name
        of_replicas = [
            values[0][r] if name == "first" else self._of_group(name, [each[r] for each in values])
            for r in range(self.replicas)
        ]
        return [of_replicas] * len(values)

    def limited(self, number: Any, most: int) -> Any:
        return min(max(int(number), 0), most)

    def is_above(self, number: Any, bound: int) -> Any:
        return int(number) > bound

    def is_positive(self, value: Any) -> Any:
        return bool(value[0].reshape(-1)[0] > 0)

    def repeat(self, rounds: Any, body: Body, carried: list[Any]) -> list[Any]:
        for number in range(int(rounds)):
            carried = body(np.int32(number), carried)
        return carried

    def repeat_while(self, rounds: int, body: Body, carried: list[Any]) -> list[Any]:
        return self.repeat(rounds, body, carried)

    def repeat_until(self, variable: str, rounds: int, body: Callable[[], None]) -> None:
        end = self.number_of(variable) + rounds
        while self.number_of(variable) < end:
            body()
            self.variables[variable] = [each + np.int32(1) for each in self.variables[variable]]

    def choose(self, test: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]:
        return arms[0]() if test else arms[1]()

    def switch(self, number: Any, arms: Sequence[Callable[[], list[Any]]]) -> list[Any]:
        return arms[min(max(int(number), 0), len(arms) - 1)]()

    def scan(self, body: Any, carried: list[Any], rows: Any) -> Any:
        results = []
        for number in range(len(rows[0])):
            carried, result = body(carried, [np.array(each[number]) for each in rows])
            results.append(result)
        return carried, [np.stack(each) for each in zip(*results, strict=True)]

    def outlined(self, body: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        return body
