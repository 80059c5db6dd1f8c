"""Models of Keras in the scope of an ``IPUStrategy``: steps of ``fit``, ``evaluate`` and ``predict`` on the device."""

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf
from keras.src.trainers.epoch_iterator import EpochIterator

from ipu_mlir.tensorflow.collectives import replica_index
from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.host_batches import ArrayBatches, Batches, first, in_groups, take
from ipu_mlir.tensorflow.program import Programs

_ON_HOST: ContextVar[bool] = ContextVar("steps stay on the host", default=False)
_FUNCTIONS = {"train": "train_step", "test": "test_step", "predict": "predict_step"}


@functools.cache
def take_over(strategy: type) -> None:
    """Let models that are made in the scope of a ``strategy`` run their steps on its device."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer, TFEpochIterator

    for kind in _FUNCTIONS:
        name = f"make_{kind}_function"
        setattr(TensorFlowTrainer, name, _making(kind, getattr(TensorFlowTrainer, name), strategy))
    TensorFlowTrainer._maybe_symbolic_build = _building(TensorFlowTrainer._maybe_symbolic_build, strategy)
    for name in ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch"):
        setattr(TensorFlowTrainer, name, _around_steps(getattr(TensorFlowTrainer, name), strategy))
    TFEpochIterator.__init__ = _with_arrays(TFEpochIterator.__init__, strategy)


def steps_stay_on_host() -> bool:
    """True while a model steps whose strategy leaves models on the host."""
    return _ON_HOST.get()


def _around_steps(theirs: Callable[..., Any], strategy: type) -> Callable[..., Any]:
    """``theirs``, with the host for what Keras does around steps."""

    @functools.wraps(theirs)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self._distribute_strategy
        before = _ON_HOST.set(isinstance(own, strategy) and not own.runs_keras)
        try:
            with ops_on_host():
                return theirs(self, *args, **kwargs)
        finally:
            _ON_HOST.reset(before)

    return run


def _with_arrays(theirs: Callable[..., None], strategy: type) -> Callable[..., None]:
    @functools.wraps(theirs)
    def begin(self: Any, distribute_strategy: Any = None, *args: Any, **kwargs: Any) -> None:
        if not isinstance(distribute_strategy, strategy) or not distribute_strategy.runs_keras:
            theirs(self, distribute_strategy, *args, **kwargs)
            return
        EpochIterator.__init__(self, *args, **kwargs)
        self._distribute_strategy = distribute_strategy
        self._distributed_dataset = ArrayBatches.of(self.data_adapter) or self.data_adapter.get_tf_dataset()

    return begin


def _building(theirs: Callable[..., Any], strategy: type) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def build(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        try:
            theirs(self, iterator, data_batch)
        except RuntimeError:  # the model cannot be called; a step of its own may do without, as outside of strategies
            layers = self._flatten_layers(include_self=False)
            if not isinstance(self._distribute_strategy, strategy) or not all(each.built for each in layers):
                raise

    return build


def _making(kind: str, theirs: Callable[..., Any], strategy: type) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def make(self: Any, force: bool = False) -> Any:
        own = self._distribute_strategy
        if not isinstance(own, strategy) or not own.runs_keras:
            return theirs(self, force)
        if self.run_eagerly:
            raise ValueError(
                f"model {self.name!r} is compiled with run_eagerly=True, and steps run on the device as one program; "
                "leave it out, or make the model outside of the strategy's scope"
            )
        attribute = f"{kind}_function"
        if getattr(self, attribute) is None or force:
            setattr(self, attribute, (_PredictFunction if kind == "predict" else _StepFunction)(self, kind))
        return getattr(self, attribute)

    return make


class _StepFunction:
    """Steps of a model on the device, as many at a time as ``steps_per_execution`` says."""

    def __init__(self, model: Any, kind: str) -> None:
        self._model = model
        self._programs = Programs()
        self._given = getattr(model, _FUNCTIONS[kind])
        self._name = f"{_FUNCTIONS[kind]} of model {model.name!r}"
        self._accumulated = getattr(model, "gradient_accumulation_count", 1) if kind == "train" else 1
        self._step = self._own_step if self._accumulated == 1 else self._accumulating

    def __call__(self, iterator: Any) -> Any:
        """The logs after the last of the steps, each of which takes a batch, or several where gradients accumulate.

        Raises:
            StopIteration: there is no batch.
        """
        sizes = (self._accumulated, self._replicas)
        most = self._model.steps_per_execution * self._accumulated * self._replicas
        batches = in_groups(take(iterator, most), sizes)
        if not batches:
            raise StopIteration
        logs = None
        for each in batches:
            logs = self._run(each)
        return logs

    @property
    def _replicas(self) -> int:
        return self._model._distribute_strategy.num_replicas_in_sync

    def _own_step(self, batch: Any) -> Any:
        """A step of this replica, on the batch that is its own."""
        return self._given(_at(batch, replica_index()) if self._replicas > 1 else batch)

    def _run(self, batches: Batches) -> Any:
        strategy = self._model._distribute_strategy
        several = (self._several, [batches.count, batches.nested])
        with strategy.scope(), ops_on_host(), _interrupted_afterwards():
            function, given = several if batches.count > 1 else (self._one, [first(batches)])
            return self._programs.call(function, given, {}, strategy.device, strategy.trace, self._name)

    def _one(self, batch: Any) -> Any:
        return self._step(batch)

    def _several(self, count: int, batches: Any) -> Any:
        """The logs of the last of ``count`` steps, in a loop."""

        def body(number: Any, _: Any) -> Any:
            return number + 1, self._step(_at(batches, number))

        logs = _zeros(_form(self._step, _at(batches, 0)))
        return tf.while_loop(lambda number, _: number < count, body, (tf.constant(0), logs))[1]

    def _accumulating(self, batches: Any) -> Any:
        """A step on several batches: the weights change once, by the sum of the gradients."""
        optimizer, taken = self._model.optimizer, []

        def once(batch: Any) -> Any:
            taken.clear()
            logs = self._own_step(batch)
            if len(taken) != 1:
                raise ValueError(
                    f"{self._name} applies gradients {len(taken)} times, and they accumulate to be applied once; leave "
                    "out gradient_accumulation_count, or let the step apply them once"
                )
            ((gradients, _),) = taken
            return logs, [self._accumulator(each) for each in gradients]

        def body(number: Any, _: Any, sums: Any) -> Any:
            logs, gradients = once(_at(batches, number))
            return number + 1, logs, [total + each for total, each in zip(sums, gradients, strict=True)]

        optimizer.__dict__["apply"] = lambda gradients, variables=None: taken.append((list(gradients), variables))
        try:
            logs, gradients = _zeros(_form(once, _at(batches, 0)))
            start = (tf.constant(0), logs, gradients)
            _, logs, sums = tf.while_loop(lambda number, *_: number < self._accumulated, body, start)
            ((gradients, variables),) = taken
        finally:
            del optimizer.__dict__["apply"]
        optimizer.apply([tf.cast(total, each.dtype) for total, each in zip(sums, gradients, strict=True)], variables)
        return logs

    def _accumulator(self, gradient: Any) -> Any:
        dtype = getattr(self._model, "gradient_accumulation_dtype", None)
        dense = tf.convert_to_tensor(gradient)
        return dense if dtype is None else tf.cast(dense, dtype)


class _PredictFunction(_StepFunction):
    """Predictions of a model on the device; every replica makes all of them."""

    @property
    def _replicas(self) -> int:
        return 1

    def __call__(self, batches: Any) -> Any:
        """What the model gives for the batches, one after another."""
        found = []
        for each in take(batches, len(batches)):
            result = self._run(each)
            if each.count > 1:
                result = tf.nest.map_structure(lambda each: tf.reshape(each, [-1, *each.shape[2:]]), result)
            found.append(result)
        return tf.nest.map_structure(lambda *each: each[0] if len(each) == 1 else tf.concat(each, 0), *found)

    def _several(self, count: int, batches: Any) -> Any:
        """What each of ``count`` steps gives, one beside the other, in a loop."""

        def body(number: Any, found: Any) -> Any:
            given = self._step(_at(batches, number))
            update = tf.tensor_scatter_nd_update
            return number + 1, tf.nest.map_structure(
                lambda all_, own: update(all_, [[number]], own[None]), found, given
            )

        form = _form(self._step, _at(batches, 0))
        found = tf.nest.map_structure(lambda spec: tf.zeros((count, *spec.shape), spec.dtype), form)
        return tf.while_loop(lambda number, _: number < count, body, (tf.constant(0), found))[1]


def _at(batches: Any, number: Any) -> Any:
    """One of the batches that were stacked."""
    return tf.nest.map_structure(lambda each: each[number] if tf.is_tensor(each) else each, batches)


def _zeros(form: Any) -> Any:
    return tf.nest.map_structure(lambda spec: tf.zeros(spec.shape, spec.dtype), form)


def _form(step: Callable[..., Any], batch: Any) -> Any:
    """What ``step`` gives for a batch, as specs."""
    leaves = tf.nest.flatten(batch)
    at = [place for place, leaf in enumerate(leaves) if tf.is_tensor(leaf)]

    def flat(*tensors: Any) -> Any:
        filled = list(leaves)
        for place, tensor in zip(at, tensors, strict=True):
            filled[place] = tensor
        return step(tf.nest.pack_sequence_as(batch, filled))

    specs = [tf.TensorSpec(leaves[place].shape, leaves[place].dtype) for place in at]
    return tf.function(flat, autograph=False).get_concrete_function(*specs).structured_outputs


@contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, so that variables have the values of whole steps; a second does not.

    Only the main thread is interrupted.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    waiting: list[Any] = []

    def wait(number: int, frame: Any) -> None:
        if waiting:
            before(number, frame)
        waiting.append((number, frame))

    signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if len(waiting) == 1:
        before(*waiting[0])
