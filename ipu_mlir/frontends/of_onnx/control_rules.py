"""Loops, scans and branches of ONNX, whose bodies are graphs that may read what is around them."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import onnx

from ipu_mlir.frontends.of_onnx.rules import rule, traced_like
from ipu_mlir.tracing.control.branches import cond
from ipu_mlir.tracing.control.loops import fori_loop, while_loop
from ipu_mlir.tracing.control.scans import scan
from ipu_mlir.tracing.graph import Symbol

_LOG = logging.getLogger("ipu_mlir.onnx")
_MOST = 1024
"""Iterations that become ops of their own where a loop cannot be one of the program."""
_NO_END = 1 << 31
"""A trip count from which on it stands for none: results have no row for each iteration."""

Step = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]
"""The loop-carried values that an iteration yields, and a row of each result, for those and the elements it takes."""


class _AsksItsBody(Exception):
    """A loop that its body may end."""


def values_in(given: Iterable[Any]) -> Iterator[Any]:
    """The values in lists and tuples of them."""
    for each in given:
        if isinstance(each, list | tuple):
            yield from values_in(each)
        else:
            yield each


def is_traced(*given: Any) -> bool:
    """True if one of the values comes when the program runs."""
    return any(isinstance(each, Symbol) for each in values_in(given))


def _around(body: Any, context: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values around ``body`` that it reads."""
    read = set(_names_read(body.proto_))
    return {name: value for name, value in (context or {}).items() if name in read}


def _names_read(graph: onnx.GraphProto) -> Iterator[str]:
    yield from (each.name for each in graph.output)
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _names_read(attribute.g)


@rule("If")
def _if(condition: Any, *, then_branch: Any, else_branch: Any, context: Any = None, **_: Any) -> Any:
    """The results of one of two bodies, of one form."""

    def body(branch: Any) -> Any:
        around = _around(branch, context)
        return lambda: tuple(_each_traced(value, condition) for value in branch.run(None, around))

    return tuple(cond(np.reshape(condition, ()), body(then_branch), body(else_branch)))


def _each_traced(value: Any, like: Any) -> Any:
    return [traced_like(each, like) for each in value] if isinstance(value, list) else traced_like(value, like)


@rule("Loop", alone=True)
def _loop(
    trip_count: Any, condition: Any = None, *state: Any, body: Any, outputs: int, context: Any = None, **_: Any
) -> Any:
    """A loop of the program: a counted one where its body never ends it, else one that asks its condition."""
    around, start = _around(body, context), list(state)
    trips = int(np.reshape(trip_count, ())) if trip_count is not None and not is_traced(trip_count) else trip_count
    goes_on = True if condition is None else condition if is_traced(condition) else bool(np.all(condition))
    has_rows = outputs > len(start)

    def iterate(index: Any, flag: Any, carried: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        given = dict(zip(body.input_names, [index, flag, *carried], strict=True))
        flag, *made = body.run(None, around | given)
        return flag, made[: len(start)], made[len(start) :]

    def counted(carried: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        flag, made, rows = iterate(elements[0].astype(np.int64), np.array(True), carried)
        if is_traced(flag) or not np.all(flag):
            raise _AsksItsBody
        return made, rows

    def ask(carried: Any) -> Any:
        index, flag, values = carried
        flag, values, _ = iterate(index, flag, values)
        return index + np.int64(1), np.reshape(flag, ()), values

    if not is_traced(trips, goes_on, start, list(around.values())):
        return _computed(iterate, start, trips, goes_on)
    if goes_on is False or (isinstance(trips, int) and trips <= 0):
        return *start, *_no_rows(lambda *_: iterate(np.array(0), np.array(True), start)[1:], start, [])
    try:
        if goes_on is True and isinstance(trips, int) and (not has_rows or trips < _NO_END):
            rows = has_rows and [np.arange(trips)]
            roll = (lambda: scan(counted, start, rows)) if rows else (lambda: (_fori(trips, counted, start), []))
            return _rolled(roll, counted, start, ([np.int64(index)] for index in range(trips)), trips)
        if goes_on is True and trips is not None and not has_rows:
            return tuple(_fori(np.reshape(trips, ()), counted, start))
        if goes_on is True and trips is None:
            _fori(1, counted, start)
            raise ValueError("it has no end: no trip count, and a condition that stays true")
    except _AsksItsBody:
        pass
    if has_rows:
        raise ValueError(
            "its number of iterations is known when the program runs, and a result has a row for each; give the trip "
            "count in args, or let the loop carry a tensor of a fixed size and write the rows to that"
        )
    first = (np.zeros((), np.int64), np.reshape(goes_on, ()), start)
    return tuple(while_loop(lambda carried: carried[1], ask, first, trips)[2])


def _fori(trips: Any, step: Step, start: list[Any]) -> list[Any]:
    return fori_loop(0, trips, lambda index, carried: step(carried, [index])[0], start)


def _computed(iterate: Callable[..., Any], carried: list[Any], trips: int | None, goes_on: Any) -> tuple[Any, ...]:
    """The results of a loop of which all is known."""
    start, goes_on, made = carried, np.array(goes_on), []
    for index in count() if trips is None else range(trips):
        if not np.all(goes_on):
            break
        goes_on, carried, rows = iterate(np.array(index), goes_on, carried)
        made.append(rows)
    if made:
        return *carried, *(np.stack(column) for column in zip(*made, strict=True))
    return *start, *_no_rows(lambda values, _: iterate(np.array(0), np.array(True), values)[1:], start, [])


@rule("Scan", alone=True)
def _scan(
    *inputs: Any, body: Any, num_scan_inputs: int, scan_input_axes: Any = None, scan_input_directions: Any = None,
    scan_output_axes: Any = None, scan_output_directions: Any = None, directions: Any = None, context: Any = None,
    **_: Any,
) -> Any:  # fmt: skip
    """A loop over the elements along an axis; of opset 8, one for each sample."""
    around, number = _around(body, context), len(body.input_names) - num_scan_inputs

    def step(carried: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        made = body.run(None, around | dict(zip(body.input_names, [*carried, *elements], strict=True)))
        return list(made[:number]), list(made[number:])

    is_known = not is_traced(inputs, list(around.values()))
    if len(inputs) > len(body.input_names):
        if inputs[0] is not None:
            raise ValueError("its samples have lengths of their own; opset 9 has a scan of equal ones")
        samples = [
            _scanned(step, [each[sample] for each in inputs[1:]], number, is_known, turned=directions)
            for sample in range(inputs[1].shape[0])
        ]
        return tuple(np.stack(each) for each in zip(*samples, strict=True))
    made = scan_output_axes, scan_output_directions
    return _scanned(step, inputs, number, is_known, scan_input_axes, scan_input_directions, *made)


def _scanned(
    step: Step, inputs: Sequence[Any], number: int, is_known: bool, axes: Sequence[int] | None = None,
    turned: Sequence[int] | None = None, axes_made: Sequence[int] | None = None,
    turned_made: Sequence[int] | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """What is carried last, and the rows of the results along their axes."""
    start, scanned = list(inputs[:number]), inputs[number:]
    xs = [
        np.moveaxis(np.flip(x, axis) if back else x, axis, 0)
        for x, axis, back in zip(scanned, axes or [0] * len(scanned), turned or [0] * len(scanned), strict=True)
    ]
    trips = xs[0].shape[0]
    if not trips:
        return *start, *_no_rows(step, start, [np.zeros(x.shape[1:], x.dtype) for x in xs])
    elements = ([x[index] for x in xs] for index in range(trips))
    if is_known:
        made = _written_out(step, start, elements)
    else:
        made = _rolled(lambda: scan(step, start, xs), step, start, elements, trips)
    rows = made[number:]
    ways = zip(rows, axes_made or [0] * len(rows), turned_made or [0] * len(rows), strict=True)
    return *made[:number], *(np.moveaxis(np.flip(row, 0) if back else row, 0, axis) for row, axis, back in ways)


def _rolled(
    roll: Callable[[], tuple[list[Any], list[Any]]],
    step: Step,
    start: list[Any],
    elements: Iterable[list[Any]],
    trips: int,
) -> tuple[Any, ...]:
    """A loop of the program; or each of its iterations, where a body asks for its index or changes a shape."""
    try:
        carried, rows = roll()
        return *carried, *rows
    except _AsksItsBody:
        raise
    except Exception as error:  # of any kind: what a body does with values that it lacks
        if trips > _MOST:
            raise
        _LOG.info("a loop of %d iterations is written out: %s", trips, error)
        try:
            return _written_out(step, start, elements)
        except Exception:  # of any kind: then what the loop lacks says more
            raise error from None


def _written_out(step: Step, carried: list[Any], elements: Iterable[list[Any]]) -> tuple[Any, ...]:
    made = []
    for each in elements:
        carried, rows = step(carried, each)
        made.append(rows)
    return *carried, *(np.stack(column) for column in zip(*made, strict=True))


def _no_rows(step: Step, start: list[Any], elements: list[Any]) -> list[np.ndarray]:
    """The results of no iterations, of which one tells the shapes."""
    return [np.zeros((0, *row.shape), row.dtype) for row in step(start, elements)[1]]
