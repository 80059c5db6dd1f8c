"""Loops on the device (guide 21.8)."""

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf
from tensorflow.python.autograph.operators import control_flow

from ipu_mlir.tensorflow.feeds import as_list
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue, arguments_of

_ROUNDS: ContextVar[int | None] = ContextVar("rounds of a loop", default=None)


@contextmanager
def loop_of(count: Any) -> Iterator[None]:
    """In the block, the body of a loop of ``count`` rounds is traced; None where nobody knows."""
    known = tf.get_static_value(count) if tf.is_tensor(count) else count
    before = _ROUNDS.set(None if known is None else int(known))
    try:
        yield
    finally:
        _ROUNDS.reset(before)


def rounds_of_loop() -> int | None:
    """The rounds of the innermost loop that is being traced; None if nobody knows, or there is none."""
    return _ROUNDS.get()


@functools.cache
def know_rounds_of_python_loops() -> None:
    """Let ``for _ in tf.range(n)`` of a function that is traced be a loop whose rounds are known, as ``repeat`` is."""
    theirs = control_flow._tf_range_for_stmt

    @functools.wraps(theirs)
    def loop(numbers: Any, extra_test: Any, *rest: Any) -> Any:
        known = tf.get_static_value(numbers)
        with loop_of(None if known is None or extra_test is not None else len(known)):
            return theirs(numbers, extra_test, *rest)

    control_flow._tf_range_for_stmt = loop


def repeat(
    n: Any,
    body: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: IPUInfeedQueue | None = None,
    use_while_v1: bool = True,
) -> Any:
    """Run ``body`` ``n`` times.

    Args:
        n: a number, or an integer tensor.
        body: takes the values of the loop, and then those of an element; gives the values of the next round, and after
            them operations.
        inputs: the values of the loop to begin with.
        infeed_queue: gives an element for each round.
        use_while_v1: without effect.

    Returns:
        The values after the last round: a tensor, or a list of several; without any, an operation.

    Raises:
        TypeError: ``body`` takes other arguments, or gives other types than it takes; ``n`` is no integer.
        ValueError: it gives tensors after operations.
    """
    count = None if n is None else tf.convert_to_tensor(n, name="count")
    if count is None or not count.dtype.is_integer or count.shape.rank:
        raise TypeError(f"repeat takes a number of rounds, which is one integer, got {n!r}")
    known = tf.get_static_value(count)
    most = tf.cast(count, tf.int32) if known is None else known  # which gradients know the size of their stacks by
    return _loop(lambda *_: True, body, inputs, infeed_queue, most, known)


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Any = None,
    infeed_queue: IPUInfeedQueue | None = None,
    maximum_iterations: Any = None,
    use_while_v1: bool = True,
) -> Any:
    """Run ``body`` while ``condition`` holds.

    Args:
        condition: takes the values of the loop, and never those of an element.
        body: as of ``repeat``.
        inputs: the values of the loop to begin with.
        infeed_queue: gives an element for each round.
        maximum_iterations: of the loop, where it may not end.
        use_while_v1: without effect.

    Returns:
        As of ``repeat``.

    Raises:
        TypeError: ``condition`` or ``body`` takes other arguments, or ``body`` gives other types than it takes;
            ``condition`` gives no bool.
        ValueError: it gives tensors after operations.
    """
    values = as_list(inputs)
    _check_arguments(condition, "condition", values, {}, "; note that infeed is not passed to the loop condition")

    def holds(_: Any, *own: Any) -> Any:
        found = tf.convert_to_tensor(condition(*own))
        if found.dtype != tf.bool or found.shape.rank:
            raise TypeError(f"the loop condition gives {found.dtype.name}{list(found.shape)}, expected one bool")
        return found

    return _loop(holds, body, inputs, infeed_queue, maximum_iterations)


def _loop(
    condition: Callable[..., Any],
    body: Callable[..., Any],
    inputs: Any,
    queue: IPUInfeedQueue | None,
    most: Any,
    rounds: Any = None,
) -> Any:
    start = [tf.convert_to_tensor(each) for each in as_list(inputs)]

    def whole(number: Any, *values: Any) -> Any:
        by_place, by_name = ([], {}) if queue is None else arguments_of(queue)
        _check_arguments(body, "body", [*values, *by_place], by_name)
        with loop_of(rounds):
            given = _tensors(body(*values, *by_place, **by_name))
        if len(given) != len(start):
            raise TypeError(f"the loop body gives {len(given)} tensors, and takes {len(start)} values of the loop")
        for place, (one, other) in enumerate(zip(start, given, strict=True)):
            if one.dtype != other.dtype:
                raise TypeError(
                    f"Mismatch between input types and output types for loop body: value {place} is {one.dtype.name}, "
                    f"and becomes {other.dtype.name}"
                )
        return number + 1, *given

    first = tf.constant(0)
    found = tf.while_loop(condition, whole, (first, *start), maximum_iterations=most, parallel_iterations=1)[1:]
    if not start:
        return tf.no_op()
    return found[0] if len(found) == 1 else list(found)


def _tensors(given: Any) -> list[Any]:
    """The tensors that a body gives, before its operations."""
    flat = [each for each in as_list(given) if each is not None]
    found = [tf.convert_to_tensor(each) for each in flat if not isinstance(each, tf.Operation)]
    if any(isinstance(each, tf.Operation) for each in flat[: len(found)]):
        raise ValueError("IPU loop body must return zero or more Tensor values followed by zero or more Operations")
    return found


def _check_arguments(
    function: Callable[..., Any], what: str, by_place: list[Any], by_name: dict[str, Any], note: str = ""
) -> None:
    try:
        inspect.signature(function).bind(*by_place, **by_name)
    except TypeError as error:
        names = [*("a value" for _ in by_place), *by_name]
        raise TypeError(
            f"Supplied loop {what} function cannot be called with the specified inputs, {len(names)} of them "
            f"({', '.join(names)}): {error}{note}"
        ) from error
    except ValueError:  # built-in functions say nothing of their arguments
        return
