"""Results of programs as queues (guide 21.5)."""

import weakref
from collections.abc import Iterator
from enum import Enum
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.feeds import Drain
from ipu_mlir.tensorflow.host_ops import host_op, host_values
from ipu_mlir.tensorflow.variables import is_tracing


class IPUOutfeedMode(Enum):
    """What ``dequeue`` gives."""

    ALL = "all"
    LAST = "get_last"


class IPUOutfeedQueue:
    """A queue that programs hand tensors, tuples or dicts to, and that Python reads."""

    def __init__(
        self,
        outfeed_mode: IPUOutfeedMode | None = None,
        device_ordinal: int = 0,
        buffer_depth: int = 3,
        optimise_latency: bool = False,
    ) -> None:
        """Make a queue.

        Args:
            outfeed_mode: whether it keeps all elements, which is the default, or the last one.
            device_ordinal: of the device whose programs write to it; those of others are refused.
            buffer_depth: without effect: elements go to the host at once.
            optimise_latency: without effect, for the same reason.

        Raises:
            ValueError: an argument is of another type, or out of range.
        """
        mode = IPUOutfeedMode.ALL if outfeed_mode is None else outfeed_mode
        if not isinstance(mode, IPUOutfeedMode):
            raise ValueError(f"outfeed_mode must be an IPUOutfeedMode, got {outfeed_mode!r}")
        if type(device_ordinal) is not int or device_ordinal < 0:
            raise ValueError(f"device_ordinal must be a number from 0, got {device_ordinal!r}")
        if type(buffer_depth) is not int or buffer_depth <= 0:
            raise ValueError(f"buffer_depth must be a number from 1, got {buffer_depth!r}")
        self._mode = mode
        self._drain = Drain(mode is IPUOutfeedMode.LAST, device_ordinal)
        self._graphs: weakref.WeakSet[Any] = weakref.WeakSet()

    def enqueue(self, tensors: Any) -> Any:
        """Pass a tensor, a tuple or a dict; in programs only, once in each.

        Gives an operation: the body of a loop returns it, or makes something depend on it.

        Raises:
            ValueError: enqueued twice, or elements of different forms.
            RuntimeError: outside of a program.
        """
        if not is_tracing():
            raise RuntimeError("an outfeed is written by programs: call enqueue in what strategy.run or compile runs")
        graph = tf.compat.v1.get_default_graph()
        if graph in self._graphs:
            raise ValueError("An outfeed can only be enqueued once.")
        self._graphs.add(graph)
        self._drain.enqueue(tensors)
        return tf.no_op()

    def dequeue(self, wait_for_completion: bool = False) -> Any:
        """The elements that are there now: each tensor with one more dimension in front; in mode ``LAST``, the last.

        Args:
            wait_for_completion: without effect: programs have ended when their results are there.

        Raises:
            ValueError: no program writes to it.
        """
        if self._drain.form is None:
            raise ValueError("the outfeed has not been enqueued: make the program that writes to it first")
        replicas = [self._drain.replicas] if self._drain.replicas > 1 else []
        more = replicas if self._mode is IPUOutfeedMode.LAST else [None, *replicas]
        return host_values(self._drain.read, self._drain.form, more)

    @property
    def deleter(self) -> Any:
        """Free the queue: an operation in graphs, done at once in eager mode."""
        return host_op(self._drain.clear)

    def __iter__(self) -> Iterator[Any]:
        """The elements that are there now, in eager mode.

        Raises:
            RuntimeError: in a graph, or the queue keeps the last element only.
        """
        if not tf.executing_eagerly() or self._mode is not IPUOutfeedMode.ALL:
            raise RuntimeError("an outfeed can be iterated over in eager mode and in mode ALL; use dequeue")
        if self._drain.form is None:
            return iter(())
        rows = self.dequeue()
        number = len(tf.nest.flatten(rows)[0])
        with ops_on_host():
            return iter([tf.nest.map_structure(lambda each: each[place], rows) for place in range(number)])  # noqa: B023
