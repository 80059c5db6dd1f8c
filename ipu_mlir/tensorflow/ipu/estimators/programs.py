"""The graph of one mode of an estimator: a loop on the device, and what the host does with its results."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import context

from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.ipu.estimators.ipu_run_config import IPURunConfig
from ipu_mlir.tensorflow.ipu.ipu_compiler import compile as compile_in_graph
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedQueue
from ipu_mlir.tensorflow.ipu.scopes import ipu_scope

tf1 = tf.compat.v1


@dataclass
class Told:
    """What a model function has told while it was traced.

    Attributes:
        hooks: of the session.
        metrics: makes metrics on the host of what the device passes in each step, a dict of pairs; None for none.
    """

    hooks: list[Any] = field(default_factory=list)
    metrics: Callable[..., Mapping[str, Any]] | None = None


class Loop:
    """Loops of a number of iterations on the device, and the elements that they pass to the host.

    Attributes:
        told: what the model function has told.
        step: the global step.
        done: what a session runs; in training, it advances the global step, too.
        start: begins the dataset; sessions run it first.
    """

    def __init__(
        self,
        trace: Callable[[Any, IPUInfeedQueue, IPUOutfeedQueue, Told], Any],
        infeed: IPUInfeedQueue,
        run: IPURunConfig,
        iterations: int | None,
        advances: bool,
    ) -> None:
        """Compile, in the graph that is being made.

        Args:
            trace: traces the loop for a number of iterations, and fills in what the model function tells.
            infeed: gives the elements.
            run: where, and how the dataset is read.
            iterations: of each loop; None where a session says them.
            advances: whether the global step counts the iterations.
        """
        self.told = Told()
        self.step = tf1.train.get_or_create_global_step()
        self._queue = IPUOutfeedQueue(device_ordinal=run.ordinal)
        self._count = None if iterations is not None else tf1.placeholder(tf.int32, [])
        self.start = infeed.initializer
        before = tf.identity(self.step.read_value())

        def net(*count: tf.Tensor) -> Any:
            return trace(count[0] if count else iterations, infeed, self._queue, self.told)

        given = [] if self._count is None else [self._count]
        with tf.control_dependencies([before]), ipu_scope(f"/device:IPU:{run.ordinal}"):
            self.done = compile_in_graph(net, given)
        if advances:
            passed: Any = iterations if self._count is None else tf.cast(self._count, before.dtype)
            with tf.control_dependencies([self.done]):
                self.done = self.step.assign(before + passed)

    def run(self, session: Any, iterations: int) -> None:
        """Let ``session`` run one loop."""
        session.run(self.done, {} if self._count is None else {self._count: iterations})

    @property
    def form(self) -> Any:
        """What the device passes in each step, with specs."""
        return self._queue._drain.form

    def read(self) -> Any:
        """The elements since the last time, each tensor with one more dimension in front, that of replicas in it."""
        drain = self._queue._drain
        rows = drain.read()
        if drain.replicas > 1:
            rows = [row.reshape(row.shape[0] * row.shape[1], *row.shape[2:]) for row in rows]
        return tf.nest.pack_sequence_as(drain.form, rows)


def infeed_of(dataset: Any, run: IPURunConfig) -> IPUInfeedQueue:
    """``dataset``, which an ``input_fn`` gave, as a queue of the device.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError(f"input_fn must give a tf.data.Dataset, got {type(dataset).__name__}")
    return IPUInfeedQueue(dataset, run.ordinal, run.prefetch_depth)


def elements_for(infeed: IPUInfeedQueue, replicas: int) -> int | None:
    """The elements that each replica can take of a dataset; None where it does not end, or nobody knows."""
    with context.eager_mode(), tf.device("/cpu:0"):
        number = int(infeed._feed._dataset.cardinality())
    return None if number < 0 else number // replicas


def replicas_of(run: IPURunConfig) -> int:
    """The replicas of programs on the device that ``run`` names."""
    return SYSTEM.device(run.ordinal).target.ipus // run.num_shards


def call_on(function: Callable[..., Any], tensors: Any) -> Any:
    """What ``function`` gives for ``tensors``: those of a dict by name, those of a list by place, or a single one."""
    if isinstance(tensors, Mapping):
        return function(**tensors)
    return function(*(tensors if isinstance(tensors, list | tuple) else [tensors]))


class HostMetrics:
    """Metrics that the host makes of what the device passes in each step."""

    def __init__(self, function: Callable[..., Mapping[str, Any]], form: Any) -> None:
        """Make the operations, in the graph that is being made.

        Args:
            function: of tensors as ``form`` names them, by place or by name; gives pairs of a value and its update.
        """
        self._given = [tf1.placeholder(spec.dtype, spec.shape) for spec in tf.nest.flatten(form)]
        with tf.device("/cpu:0"):
            made = call_on(function, tf.nest.pack_sequence_as(form, self._given))
        self._values = {name: value for name, (value, _) in made.items()}
        self._updates = [update for _, update in made.values()]

    def update(self, session: Any, rows: Any) -> None:
        """Take ``rows``, as ``Loop.read`` gives them, into account."""
        for row in zip(*tf.nest.flatten(rows), strict=True):
            session.run(self._updates, dict(zip(self._given, row, strict=True)))

    def values(self, session: Any) -> dict[str, Any]:
        """The metrics so far."""
        return session.run(self._values)


class StartHook(tf1.train.SessionRunHook):
    """Begins the dataset of a loop with its session."""

    def __init__(self, loop: Loop) -> None:
        self._start = loop.start

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._start)


class LossHook(tf1.train.SessionRunHook):
    """Logs the loss, each time when as many steps have passed."""

    def __init__(self, loop: Loop, steps: int | None) -> None:
        self._loop, self._steps, self._logged = loop, steps, 0

    def after_run(self, run_context: Any, run_values: Any) -> None:
        losses = tf.nest.flatten(self._loop.read())[0]
        step = int(run_context.session.run(self._loop.step))
        if self._steps and len(losses) and step - self._logged >= self._steps:
            self._logged = step
            tf.get_logger().info("loss = %s, step = %d", losses[-1], step)
