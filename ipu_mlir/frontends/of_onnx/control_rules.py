"""Loops, scans and branches of ONNX, whose bodies are graphs that may read what is around them."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import onnx

from ipu_mlir.frontends.of_onnx.results import Counted, Maps, Texts
from ipu_mlir.frontends.of_onnx.rules import rule, traced_like
from ipu_mlir.tracing.control.branches import cond
from ipu_mlir.tracing.control.loops import fori_loop, while_loop
from ipu_mlir.tracing.control.scans import scan
from ipu_mlir.tracing.graph import Symbol

_LOG = logging.getLogger("ipu_mlir.onnx")
_MOST = 1024
"""Iterations that become ops of their own where a loop cannot be one of the program."""
_MOST_ASKED = 1 << 14
"""Iterations up to which the condition of a loop is computed to know how many it has."""
_NO_END = 1 << 31
"""A trip count from which on it stands for none: results have no row for each iteration."""

Step = Callable[[list[Any], list[Any]], tuple[list[Any], list[Any]]]
"""The loop-carried values that an iteration yields, and a row of each result, for those and the elements it takes."""


class _AsksItsBody(Exception):
    """A loop that its body may end."""


def values_in(given: Iterable[Any]) -> Iterator[Any]:
    """The values in lists and tuples of them, and the tensors that stand for others."""
    for each in given:
        if isinstance(each, list | tuple):
            yield from values_in(each)
        elif isinstance(each, Texts | Maps | Counted):
            yield each.places if isinstance(each, Texts) else each.scores if isinstance(each, Maps) else each.rows
        else:
            yield each


def is_traced(*given: Any) -> bool:
    """True if one of the values comes when the program runs."""
    return any(isinstance(each, Symbol) for each in values_in(given))


def _around(body: Any, context: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values around ``body`` that it reads."""
    read = {*names_read(body.proto_.node), *(each.name for each in body.proto_.output)}
    return {name: value for name, value in (context or {}).items() if name in read}


def names_read(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """The names that nodes take, and those that their bodies give or take from around them."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                body = attribute.g
                own = {name for inner in body.node for name in inner.output} | {each.name for each in body.input}
                yield from {*names_read(body.node), *(each.name for each in body.output)} - own


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
    has_rows, ends_after = outputs > len(start), None

    def iterate(index: Any, flag: Any, carried: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        given = dict(zip(body.input_names, [index, flag, *carried], strict=True))
        flag, *made = body.run(None, around | given)
        return flag, made[: len(start)], made[len(start) :]

    def counted(carried: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        flag, made, rows = iterate(elements[0].astype(np.int64), np.array(True), carried)
        if ends_after is None and (is_traced(flag) or not np.all(flag)):
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

    def of_known_length(trips: int) -> tuple[Any, ...]:
        rows = has_rows and [np.arange(trips)]
        roll = (lambda: scan(counted, start, rows)) if rows else (lambda: (_fori(trips, counted, start), []))
        return _rolled(roll, counted, start, ([np.int64(index)] for index in range(trips)), trips)

    try:
        if goes_on is True and isinstance(trips, int) and (not has_rows or trips < _NO_END):
            return of_known_length(trips)
        if goes_on is True and trips is not None and not has_rows:
            return tuple(_fori(np.reshape(trips, ()), counted, start))
        if goes_on is True and trips is None:
            _fori(1, counted, start)
            raise ValueError("it has no end: no trip count, and a condition that stays true")
    except _AsksItsBody:
        pass
    ends_after = _iterations(body, around, start, trips, goes_on)
    if ends_after:
        return of_known_length(ends_after)
    if has_rows:
        raise ValueError(
            "its number of iterations is known when the program runs, and a result has a row for each; give the trip "
            "count in args, or let the loop carry a tensor of a fixed size and write the rows to that"
        )
    first = (np.zeros((), np.int64), np.reshape(goes_on, ()), start)
    return tuple(while_loop(lambda carried: carried[1], ask, first, trips)[2])


def _iterations(body: Any, around: Mapping[str, Any], start: list[Any], trips: Any, goes_on: Any) -> int | None:
    """How often a body runs whose condition depends on known values alone, as counters are; None for others."""
    if is_traced(trips, goes_on):
        return None
    graph = body.proto_
    read, size = {graph.output[0].name}, 0
    while len(read) > size:  # what the condition depends on, in this iteration and in those before
        size = len(read)
        read |= set(names_read(node for node in graph.node if read & set(node.output)))
        read |= {
            graph.output[place - 1].name for place in range(2, len(graph.input)) if graph.input[place].name in read
        }
    carried = {place: name for place, name in enumerate(body.input_names[2:]) if name in read}
    if is_traced([start[place] for place in carried], [each for name, each in around.items() if name in read]):
        return None
    asked = onnx.GraphProto()
    asked.CopyFrom(graph)
    del asked.node[:], asked.output[:]
    asked.node.extend(node for node in graph.node if read & set(node.output))
    asked.output.extend(graph.output[place] for place in (0, *(place + 1 for place in carried)))
    condition = type(body)(asked, opsets=body.opsets_, functions=list(body.functions_.values()))
    values = [start[place] for place in carried]
    for number in range(_MOST_ASKED if trips is None else min(trips, _MOST_ASKED)):
        if not goes_on:
            return number
        given = dict(zip(body.input_names, [np.array(number), np.array(True), *start], strict=True))
        flag, *values = condition.run(None, dict(around) | given | dict(zip(carried.values(), values, strict=True)))
        goes_on = bool(np.all(flag))
    return trips if trips is not None and trips <= _MOST_ASKED else None


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
