"""Datasets as queues of the device (guide 21.4)."""

from typing import Any

import tensorflow as tf

from ipu_mlir.dialects.ops.streams import MOST_PREFETCHED
from ipu_mlir.tensorflow.feeds import Feed, refuse_text
from ipu_mlir.tensorflow.host_ops import host_op


class IPUInfeedQueue:
    """A queue that loops on the device take their arguments from."""

    def __init__(
        self,
        dataset: tf.data.Dataset,
        device_ordinal: int = 0,
        prefetch_depth: int | None = None,
        optimise_latency: bool = False,
    ) -> None:
        """Stream ``dataset``, which nobody else should iterate over.

        Args:
            device_ordinal: of the device whose programs take from it; those of others are refused.
            prefetch_depth: how many elements may wait; 3 where it is not said.
            optimise_latency: without effect: elements are passed as soon as they are there.

        Raises:
            TypeError: ``dataset`` is none.
            ValueError: a shape is not fully defined, elements nest lists or have text, or a number is out of range.
        """
        _check_ordinal(device_ordinal)
        if prefetch_depth is not None and prefetch_depth <= 0:
            raise ValueError(f"prefetch_depth must be greater than zero, got {prefetch_depth}")
        if prefetch_depth is not None and prefetch_depth > MOST_PREFETCHED:
            raise ValueError(f"prefetch_depth must be less than {MOST_PREFETCHED + 1}, got {prefetch_depth}")
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(f"an infeed queue streams a tf.data.Dataset, got {type(dataset).__name__}")
        spec = dataset.element_spec
        if isinstance(spec, tuple) and any(isinstance(each, tuple | list) for each in spec):
            raise ValueError(f"elements nest tuples in tuples, which a queue does not: {spec}; flatten them by map")
        for each in tf.nest.flatten(spec):
            refuse_text(each.dtype, "the infeed gives elements")
            if not each.shape.is_fully_defined():
                raise ValueError(
                    f"Output shape {each.shape} is not fully defined: the device takes elements of one size; use "
                    "batch(..., drop_remainder=True)"
                )
        self._feed = Feed(dataset, prefetch_depth or 3, device_ordinal)
        self._feed.is_started = False
        self._is_dequeued = self._is_initialized = False

    @property
    def initializer(self) -> Any:
        """Start the queue from its first element: an operation in graphs, done at once in eager mode.

        Raises:
            ValueError: asked for twice in a graph.
        """
        if self._is_initialized and not tf.executing_eagerly():
            raise ValueError("The initializer of an infeed queue can be asked for once only; keep the operation")
        self._is_initialized = True
        return host_op(self._start)

    @property
    def deleter(self) -> Any:
        """Free the queue; it can be started again."""
        return host_op(self._delete)

    @property
    def dequeued(self) -> bool:
        """True if a loop takes from the queue."""
        return self._is_dequeued

    @property
    def number_of_tuple_elements(self) -> int:
        """The number of arguments that an element is."""
        return len(_arguments(self._feed.element_spec))

    def get_next(self) -> Any:
        """Obsolete: loops take elements by themselves.

        Raises:
            ValueError: always.
        """
        raise ValueError("get_next is obsolete; give the queue to ipu.loops.repeat, or use iter(dataset) in the scope")

    def _start(self) -> None:
        for place, each in enumerate(tf.nest.flatten(self._feed.element_spec)):
            if each.dtype == tf.int64:
                raise tf.errors.FailedPreconditionError(
                    None, None, f"Unsupported datatype int64 on index {place} of feed operation; cast it in the dataset"
                )
            if 0 in each.shape:
                raise tf.errors.InvalidArgumentError(
                    None, None, f"Detected an input tensor to an infeed queue with a dimension of size 0: {each.shape}"
                )
        self._feed.restart()

    def _delete(self) -> None:
        if not self._is_initialized:
            raise tf.errors.NotFoundError(None, None, f"Infeed with id='{self._feed.name}' was never started")
        self._feed.restart()
        self._feed.is_started = False


def arguments_of(queue: Any) -> tuple[list[Any], dict[str, Any]]:
    """The next element of ``queue`` as arguments of a loop's body, by place or by name.

    Raises:
        TypeError: it is no IPUInfeedQueue.
    """
    if not isinstance(queue, IPUInfeedQueue):
        raise TypeError(f"infeed_queue must be an IPUInfeedQueue, got {queue!r}; make one of a tf.data.Dataset")
    queue._is_dequeued = True
    given = _arguments(queue._feed.dequeue())
    return ([], given) if isinstance(given, dict) else (given, {})


def _arguments(element: Any) -> Any:
    """The arguments that an element is: those of a dict, also if it is all of a tuple, by name."""
    if isinstance(element, tuple) and len(element) == 1 and isinstance(element[0], dict):
        element = element[0]
    if isinstance(element, tuple):
        return list(element)
    return element if isinstance(element, dict) and all(isinstance(key, str) for key in element) else [element]


def _check_ordinal(ordinal: Any) -> None:
    if type(ordinal) is not int or ordinal < 0:
        raise ValueError(f"device_ordinal must be a number from 0, got {ordinal!r}")
