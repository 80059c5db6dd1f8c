"""Random programs on state, run by run against NumPy: results, variables, remote rows and queues."""

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
from support.stateful.drawing import ROWS, Entry, Program, array
from support.stateful.machines import Arrays, Tracer
from support.stateful.statements import Scope

import ipu_mlir as ipu


class _Running:
    """A compiled program and its state, in a session or outside of one."""

    def __init__(self, program: Program, first: dict[str, np.ndarray], rows: np.ndarray, feed: Any) -> None:
        self.variables = {
            each.name: ipu.Variable(
                first[each.name], name=each.name, offload=each.is_offloaded, partition=each.is_partitioned
            )
            for each in program.variables
        }
        self.rows = ipu.RemoteBuffer(rows, name="rows", partition="encoding" if program.partitions_rows else None)
        self.outfeed = ipu.Outfeed(name="out")
        infeed = ipu.Infeed(feed, name="feed")
        tracer = Tracer(program.replicas, self.variables, self.rows, infeed, self.outfeed, program.partitioned)

        def traced(entry: Entry) -> Any:
            def function(*arguments: Any) -> Any:
                scope = Scope(tracer, list(arguments[:-1]), [arguments[-1]])
                scope.values.extend(map(tracer.read, self.variables))
                scope.run(entry.body)
                return tuple(scope.values[-entry.results :])

            return function

        functions = {name: traced(entry) for name, entry in program.entries.items()}
        arguments = {
            name: (*(np.zeros(shape, dtype) for shape, dtype in entry.arguments), np.int32(0))
            for name, entry in program.entries.items()
        }
        target = ipu.Target(ipus=program.ipus, tiles_per_ipu=program.tiles, replicas=program.replicas)
        self.programs: Any = ipu.compile(functions, args=arguments, target=target, kernels=program.kernels)  # type: ignore[call-overload]
        self.session = self.programs.session() if program.in_session else None

    def run(self, name: str, arguments: list[Any], per_tile: bool) -> list[Any]:
        if self.session is not None:
            return list(self.session.run(name, *arguments))
        executable = self.programs[name]
        return (executable.run_per_tile if per_tile else executable.run)([np.asarray(each) for each in arguments])

    def assign(self, name: str, value: np.ndarray) -> bool:
        """Give a variable a value from outside; False if that cannot be done, as without a session."""
        if self.session is None or name not in self.session:
            return False
        self.session[name] = value
        return True

    def state(self) -> Iterator[tuple[str, Any]]:
        """Variables and rows, those that the program has."""
        if self.session is not None:
            yield from self.session.items()
            return
        yield from ((name, variable.value) for name, variable in self.variables.items())
        if self.rows.own is not None:
            yield "rows", _numbers(self.rows.own.value(), self.rows.spec.dtype)

    def given(self) -> Any:
        """What came out of the outfeed since it was asked last."""
        if self.session is not None:
            return self.session.read("out")
        return self.outfeed.read()


def check(program: Program) -> None:
    """Run ``program`` as it says, and compare all there is after each run.

    Raises:
        AssertionError: something differs from NumPy's.
        Any other: the program did not compile or run.
    """
    random = Random(program.seed + 1)
    first = {each.name: array(random, each.kind) for each in program.variables}
    rows = array(random, ((ROWS, *program.rows[0]), program.rows[1]))
    seed = random.random()

    def feed() -> Iterator[np.ndarray]:
        elements = Random(seed)
        while True:
            yield array(elements, program.fed)

    running = _Running(program, first, rows, feed)
    expected = Arrays(program.replicas, first, rows, feed(), program.partitioned)
    for step, (name, number, per_tile) in enumerate(program.runs):
        entry = program.entries[name]
        changed = random.choice(program.variables)
        value = array(random, changed.kind)
        if step % 2 and running.assign(changed.name, value):
            expected.assign(changed.name, expected.same(value))
        arguments = [*(array(random, kind) for kind in entry.arguments), np.int32(number)]
        found = running.run(name, arguments, per_tile)
        expected.entry = name
        scope = Scope(expected, [expected.same(each) for each in arguments[:-1]], [np.int32(number)])
        scope.values.extend(map(expected.read, expected.variables))
        with np.errstate(all="ignore"):
            scope.run(entry.body)
        where = f"program {program.seed}, run {step} of {name}{' per tile' if per_tile else ''}"
        for place, (one, other) in enumerate(zip(found, scope.values[-entry.results :], strict=True)):
            _compare(_numbers(one, other[0].dtype), other, f"{where}: result {place}")
        state = {**expected.variables, "rows": expected.rows}
        for each, value in running.state():
            if each in state:
                _compare(value, state[each], f"{where}: {each} afterwards")
        if expected.given:
            given = np.stack([np.stack(each) for each in expected.given])
            np.testing.assert_array_equal(
                running.given(), given if program.replicas > 1 else given[:, 0], err_msg=f"{where}: outfeed"
            )
            expected.given.clear()


def _numbers(found: Any, dtype: np.dtype[Any]) -> Any:
    """Results of executors outside of sessions are the bits of unsigned numbers."""
    found = np.asarray(found)
    is_bits = dtype.kind == "u" and found.dtype.kind == "i" and found.dtype.itemsize == dtype.itemsize
    return found.view(dtype) if is_bits else found


def _compare(found: Any, expected: list[np.ndarray], where: str) -> None:
    """``found`` is one array for each replica, or one for all if they are equal."""
    found = np.asarray(found)
    is_one = found.shape == expected[0].shape
    wanted = np.stack(expected) if not is_one else expected[0]
    assert found.dtype == wanted.dtype, f"{where}: {found.dtype} for {wanted.dtype}"
    np.testing.assert_array_equal(found, wanted, err_msg=where)
    assert not is_one or all(np.array_equal(each, expected[0]) for each in expected), f"{where}: replicas differ"
