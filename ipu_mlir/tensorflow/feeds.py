"""Queues between datasets, programs on the device and Python."""

import threading
import weakref
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.data.ops.dataset_ops import _VariantDataset
from tensorflow.python.eager import context

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.infeeds import Infeed, SyntheticInfeed
from ipu_mlir.runtime.engine.outfeeds import Outfeed, SyntheticOutfeed
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.translator.translation import Stream
from ipu_mlir.tensorflow.custom_calls import as_tensorflow_has_it, call
from ipu_mlir.tensorflow.devices import SYSTEM, Device, is_synthetic
from ipu_mlir.tensorflow.host_ops import host_values
from ipu_mlir.tensorflow.outside import host_function
from ipu_mlir.tensorflow.variables import is_tracing

_NUMBERS = count()
_FEEDS: "weakref.WeakValueDictionary[str, Feed | Drain]" = weakref.WeakValueDictionary()


_OF_ITERATORS: "weakref.WeakKeyDictionary[Any, Feed]" = weakref.WeakKeyDictionary()


def feed_of(iterator: tf.data.Iterator) -> "Feed":
    """The rest of an iterator of the host as a queue, the same one each time."""
    if iterator not in _OF_ITERATORS:
        _OF_ITERATORS[iterator] = Feed(iterator)
    return _OF_ITERATORS[iterator]


def form_of(name: str) -> Any:
    """What an element of the queue that programs call ``name`` looks like."""
    queue = _FEEDS[name]
    return queue.element_spec if isinstance(queue, Feed) else queue.form


def as_list(values: Any) -> list[Any]:
    """The inputs or results of a function, of which users give a single one alone, and none as None."""
    if values is None:
        return []
    return list(values) if isinstance(values, list | tuple) else [values]


def refuse_text(dtype: tf.DType, what: str) -> None:
    """Raise a ``ValueError`` about ``what`` of a type that the device does not have."""
    if dtype in (tf.string, tf.variant, tf.resource):
        raise ValueError(f"{what} of {dtype.name}, and the device takes numbers; make some of it before, by map")


class Feed:
    """Elements of a dataset for programs, in order; the position is kept from run to run.

    Attributes:
        name: what programs call it.
        element_spec: what an element looks like.
        ordinal: the number of the device whose programs take elements; None for any.
        is_started: False for a queue that a program may not take from before ``restart``.
    """

    def __init__(self, dataset: Any, prefetch_depth: int = 3, ordinal: int | None = None) -> None:
        """Stream the elements of ``dataset``, or the rest of an iterator."""
        self.ordinal = ordinal
        self.name = f"infeed_{next(_NUMBERS)}"
        self.element_spec = dataset.element_spec
        self._depth, self._dataset = prefetch_depth, out_of_graph(dataset)
        self._queue: Infeed | None = None
        self._own: Iterator[Any] | None = None
        self.is_started = True
        self._lock = threading.Lock()
        _FEEDS[self.name] = self

    def dequeue(self) -> Any:
        """The next element, in a function that is being traced for the device."""
        specs = tf.nest.flatten(self.element_spec)
        for spec in specs:
            refuse_text(spec.dtype, "the infeed gives elements")
            if not spec.shape.is_fully_defined():
                raise ValueError(
                    f"Output shape {spec.shape} is not fully defined: the device takes elements of one size; use "
                    "batch(..., drop_remainder=True)"
                )
        found = call("dequeue", results=specs, ordered=True, queue=self.name, prefetch_depth=self._depth)
        return tf.nest.pack_sequence_as(self.element_spec, found)

    def __next__(self) -> Any:
        """The next element: on the device in functions that are traced for it, for Python elsewhere.

        In functions of the host, an operation takes it, which ends in ``tf.errors.OutOfRangeError``.
        """
        if is_tracing():
            return self.dequeue()
        if not tf.executing_eagerly():
            return host_values(lambda: tf.nest.flatten(self._next()), self.element_spec)
        return self._next()

    def _next(self) -> Any:
        with self._lock:
            if self._queue is None:
                if self._own is None:
                    self._own = _elements(self._dataset)
                return next(self._own)
        return self._taken(self._queue)

    def __iter__(self) -> "Feed":
        if is_tracing() or not tf.executing_eagerly():
            raise ValueError(
                "a function takes elements by next(iterator), in a loop such as `for _ in tf.range(count)`: it cannot "
                "ask where the dataset ends, as `for element in iterator` does"
            )
        return self

    get_next = __next__

    def restart(self) -> None:
        """Begin again with the first element."""
        self.is_started = True
        with self._lock:
            self._own = None
            if self._queue is not None:
                self._queue.restart()

    def queue(self, stream: Stream) -> Infeed:
        """The queue that programs take elements from."""
        with self._lock:
            if self._queue is None:
                self._queue = SyntheticInfeed(stream) if is_synthetic("infeed") else Infeed(stream, self._leaves)
            return self._queue

    def _leaves(self) -> "_Leaves":
        """The elements from where Python is.

        Raises:
            tf.errors.FailedPreconditionError: nobody has started the queue.
        """
        if not self.is_started:
            raise tf.errors.FailedPreconditionError(
                None, None, f"{self.name} is not initialized; run the initializer of its queue before the program"
            )
        own, self._own = self._own, None
        return _Leaves(own or _elements(self._dataset))

    def _taken(self, queue: Infeed) -> Any:
        try:
            arrays = queue.next_element()
        except tf.errors.OutOfRangeError as error:
            raise StopIteration from error
        pairs = zip(arrays, tf.nest.flatten(self.element_spec), strict=True)
        leaves = [
            tf.constant(as_tensorflow_has_it(array, np.dtype(spec.dtype.as_numpy_dtype))) for array, spec in pairs
        ]
        return tf.nest.pack_sequence_as(self.element_spec, leaves)


class _Leaves(Iterator[list[np.ndarray]]):
    """The tensors of elements as arrays; the end is an error, as TensorFlow has it."""

    def __init__(self, elements: Iterator[Any]) -> None:
        self._elements = elements

    def __next__(self) -> list[np.ndarray]:
        try:
            return [np.asarray(leaf) for leaf in tf.nest.flatten(next(self._elements))]
        except StopIteration:
            raise tf.errors.OutOfRangeError(None, None, "the dataset has ended; the program asks for more") from None


_ITERATE = tf.data.Dataset.__iter__


def _elements(dataset: Any) -> Iterator[Any]:
    """An iterator of the host, inside of a strategy's scope too."""
    if isinstance(dataset, tf.data.Iterator):
        return dataset
    with tf.device("/cpu:0"):
        return _ITERATE(dataset)


def out_of_graph(dataset: Any) -> Any:
    """A dataset for iterators of eager mode, one of the graph that is being made too; an iterator as it is."""
    if isinstance(dataset, tf.data.Iterator):
        return dataset
    variant = dataset._variant_tensor
    if tf.is_tensor(variant) and not tf.is_symbolic_tensor(variant):
        return dataset
    whole = variant.graph.as_graph_def()
    definition = tf.compat.v1.graph_util.extract_sub_graph(whole, [variant.op.name])
    with context.eager_mode(), tf.device("/cpu:0"):
        made = tf.compat.v1.wrap_function(
            lambda: tf.graph_util.import_graph_def(definition, return_elements=[variant.name]), []
        )
        return _VariantDataset(made()[0], dataset.element_spec)


class Drain:
    """Elements from programs for Python.

    Attributes:
        name: what programs call it.
        form: what an element looks like, with specs; None before there is a program that writes to it.
        replicas: how many pass an element at a time; several give them one more dimension.
        ordinal: the number of the device whose programs pass elements; None for any.
    """

    def __init__(self, keeps_last: bool = False, ordinal: int | None = None) -> None:
        self.ordinal = ordinal
        self.name = f"outfeed_{next(_NUMBERS)}"
        self.keeps_last = keeps_last
        self.form: Any = None
        self.replicas = 1
        self._queue: Outfeed | None = None
        _FEEDS[self.name] = self

    def enqueue(self, element: Any) -> None:
        """Pass an element, in a function that is being traced for the device.

        Raises:
            ValueError: it is of another form than those before, or without tensors.
            InvalidArgumentError: a dimension is of size 0.
        """
        given = tf.nest.flatten(element)
        if not given or any(leaf is None for leaf in given):
            raise ValueError(f"the outfeed takes a tensor, a tuple or a dict of tensors, and was given {element!r}")
        leaves = [tf.convert_to_tensor(leaf) for leaf in given]
        for leaf in leaves:
            refuse_text(leaf.dtype, "the outfeed is given an element")
            if 0 in leaf.shape:
                raise tf.errors.InvalidArgumentError(
                    None, None, f"Detected a tensor in an outfeed queue with a dimension of size 0: {leaf.shape}"
                )
        specs = [tf.TensorSpec(leaf.shape, leaf.dtype) for leaf in leaves]
        form = tf.nest.pack_sequence_as(element, specs)
        if self.form is not None and repr(form) != repr(self.form):
            raise ValueError(f"the outfeed takes {self.form}, and was given {form}; all elements are alike")
        self.form = form
        call("enqueue", leaves, ordered=True, queue=self.name, mode="last" if self.keeps_last else "all")

    def queue(self, stream: Stream) -> Outfeed:
        """The queue that programs hand elements to."""
        self.replicas = stream.replicas
        if self._queue is None:
            self._queue = SyntheticOutfeed(stream) if is_synthetic("outfeed") else Outfeed(stream)
        return self._queue

    def clear(self) -> None:
        """Forget what is there."""
        if self._queue is not None:
            self._queue = None if self.keeps_last else self._queue
            if self._queue is not None:
                self._queue.read()

    def read(self) -> list[np.ndarray]:
        """The elements that are there now, the tensors of one with one more dimension in front, or the last element.

        Raises:
            FailedPreconditionError: there is no last element.
        """
        specs = [(spec.shape, spec.dtype.as_numpy_dtype) for spec in tf.nest.flatten(self.form)]
        if self._queue is None and not self.keeps_last:
            return [np.empty((0, *shape), dtype) for shape, dtype in specs]
        try:
            if self._queue is None:
                raise RunError("no program has written it")
            rows = self._queue.read()
        except RunError as error:
            raise tf.errors.FailedPreconditionError(
                None, None, f"Trying to get the last value from an outfeed queue: {error}"
            ) from error
        return [as_tensorflow_has_it(array, np.dtype(dtype)) for array, (_, dtype) in zip(rows, specs, strict=True)]


def connect(state: State, device: Device) -> None:
    """Let the queues and functions of the host of a program for ``device`` be those that its name says.

    What programs only know by its name is alive as long as one of them.

    Raises:
        ValueError: a queue is of another device.
    """
    streams = state.streams
    queues: Any
    for queues in (streams.infeeds, streams.outfeeds):
        for name, made in queues.items():
            _refuse_other_device(_FEEDS[name].ordinal, device)
            queues[name] = _FEEDS[name].queue(made.stream)
    for name, function in streams.functions.items():
        function.function = host_function(name)


def _refuse_other_device(ordinal: int | None, device: Device) -> None:
    if ordinal is None or SYSTEM.device(ordinal).members == device.members:
        return
    own = next(number for number in range(len(SYSTEM)) if SYSTEM.device(number).members == device.members)
    raise ValueError(
        f"a program for /device:IPU:{own} uses a queue of /device:IPU:{ordinal}; make it with device_ordinal={own}"
    )
