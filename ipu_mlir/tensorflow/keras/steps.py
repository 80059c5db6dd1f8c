"""Models of Keras in the scope of an ``IPUStrategy``: steps of ``fit``, ``evaluate`` and ``predict`` on the device."""

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np
import tensorflow as tf
from keras import KerasTensor
from keras.src.models.functional import Functional
from keras.src.trainers.epoch_iterator import EpochIterator

from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.keras.extension import extend_models
from ipu_mlir.tensorflow.keras.graph import is_pipelined, marked_assignments
from ipu_mlir.tensorflow.keras.host_batches import ArrayBatches
from ipu_mlir.tensorflow.keras.options import options_of
from ipu_mlir.tensorflow.keras.pipelined_steps import PipelinedPredictions, PipelinedSteps
from ipu_mlir.tensorflow.keras.replicas import finite_on_all, moments_of_groups
from ipu_mlir.tensorflow.keras.step_functions import FUNCTIONS, PredictFunction, StepFunction

_ON_HOST: ContextVar[bool] = ContextVar("steps stay on the host", default=False)


@functools.cache
def take_over(strategy: type) -> None:
    """Let models that are made in the scope of a ``strategy`` run their steps on its device."""
    from keras.src.backend.tensorflow.trainer import TensorFlowTrainer, TFEpochIterator
    from keras.src.layers import BatchNormalization
    from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

    for kind in FUNCTIONS:
        name = f"make_{kind}_function"
        setattr(TensorFlowTrainer, name, _making(kind, getattr(TensorFlowTrainer, name), strategy))
    TensorFlowTrainer._maybe_symbolic_build = _building(TensorFlowTrainer._maybe_symbolic_build, strategy)
    for name in ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch"):
        setattr(TensorFlowTrainer, name, _around_steps(getattr(TensorFlowTrainer, name), strategy))
    TensorFlowTrainer._get_metrics_result_or_logs = _of_replicas(TensorFlowTrainer._get_metrics_result_or_logs)
    LossScaleOptimizer.check_finite = finite_on_all(LossScaleOptimizer.check_finite)
    BatchNormalization._moments = moments_of_groups(BatchNormalization._moments)
    Functional.__init__ = _in_stages(Functional.__init__, strategy)
    extend_models(strategy)
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
        steps = self.steps_per_execution
        if not isinstance(steps, int | np.integer) or steps < 1:
            raise ValueError(
                f"steps_per_execution={steps!r}; it is how many steps a run of the program takes, from 1 on"
            )
        self._distribute_strategy = distribute_strategy
        self._distributed_dataset = ArrayBatches.of(self.data_adapter) or self.data_adapter.get_tf_dataset()

    return begin


def _building(theirs: Callable[..., Any], strategy: type) -> Callable[..., Any]:
    @functools.wraps(theirs)
    def build(self: Any, iterator: Any = None, data_batch: Any = None) -> None:
        if isinstance(self._distribute_strategy, strategy) and (batch := _declared_batch(iterator)) is not None:
            try:
                return theirs(self, None, batch)
            except (RuntimeError, ValueError):
                pass  # a batch says more than its declaration
        try:
            theirs(self, iterator, data_batch)
        except (RuntimeError, ValueError):
            # The model cannot be called, or only while it trains; its steps may do without, as outside of strategies.
            layers = self._flatten_layers(include_self=False)
            if not isinstance(self._distribute_strategy, strategy) or not all(each.built for each in layers):
                raise

    return build


def _declared_batch(iterator: Any) -> Any:
    """A batch as its dataset declares it: to take one would shuffle the dataset anew, as outside of strategies."""
    dataset = getattr(iterator, "_distributed_dataset", None)
    if not isinstance(dataset, tf.data.Dataset):
        return None
    leaves = tf.nest.flatten(dataset.element_spec)
    if not all(isinstance(each, tf.TensorSpec) and each.shape.rank is not None for each in leaves):
        return None
    return tf.nest.map_structure(lambda each: KerasTensor(tuple(each.shape), each.dtype.name), dataset.element_spec)


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
            kinds = (PipelinedPredictions, PipelinedSteps) if is_pipelined(self) else (PredictFunction, StepFunction)
            setattr(self, attribute, kinds[0 if kind == "predict" else 1](self, kind))
        return getattr(self, attribute)

    return make


def _of_replicas(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """``theirs``, which reads metrics at the end of an epoch; their variables have the values of the first replica."""

    @functools.wraps(theirs)
    def read(self: Any, logs: Any) -> Any:
        return theirs(self, logs) if options_of(self).metric_reduction == "NONE" else logs

    return read


def _in_stages(theirs: Callable[..., None], strategy: type) -> Callable[..., None]:
    """``theirs``, which makes a functional model: a pipeline if its layers were called in stages.

    Keras compares the arguments of the function with its signature.
    """

    @functools.wraps(theirs)
    def make(self: Any, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        theirs(self, inputs, outputs, name=name, **kwargs)
        if isinstance(tf.distribute.get_strategy(), strategy):
            options_of(self).stages = marked_assignments(self)

    return make
