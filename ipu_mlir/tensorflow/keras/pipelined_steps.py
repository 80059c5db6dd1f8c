"""Steps of a model whose layers are in stages: pipelines of the device, whose micro-batches are batches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf
from keras.src.losses import loss as loss_module
from keras.src.trainers.data_adapters.data_adapter_utils import unpack_x_y_sample_weight

from ipu_mlir.dialects.analysis.pipelines import Schedule
from ipu_mlir.tensorflow.devices import replica_of
from ipu_mlir.tensorflow.keras.graph import calls_of_stages, graph_of, stage_assignments
from ipu_mlir.tensorflow.keras.host_batches import Batches
from ipu_mlir.tensorflow.keras.loops import at
from ipu_mlir.tensorflow.keras.options import Accumulation, options_of
from ipu_mlir.tensorflow.keras.stages import Stages
from ipu_mlir.tensorflow.keras.step_functions import FUNCTIONS, PredictFunction, StepFunction, merged
from ipu_mlir.tensorflow.pipelines.run import Training, run_pipeline
from ipu_mlir.tensorflow.pipelines.settings import Settings
from ipu_mlir.tensorflow.variables import own_handle


class PipelinedSteps(StepFunction):
    """Updates, or evaluations, of a model in stages."""

    kind_of_model = "pipelined "

    def __init__(self, model: Any, kind: str) -> None:
        """As of ``StepFunction``.

        Raises:
            RuntimeError: the model has steps or losses of its own, which go through no stages.
            ValueError: gradients accumulate, and nobody has said over how many steps.
        """
        _check_own_methods(model, kind)
        super().__init__(model, kind)

    def _accumulation(self) -> Accumulation:
        own = options_of(self._model).pipelining
        if own.steps is None and own.schedule != "sequential":
            raise ValueError(
                f"The model {self._model.name!r} which you are attempting to train is pipelined, however "
                "`gradient_accumulation_steps_per_replica` has not been set through `set_pipelining_options()`. You "
                "need to set this value as pipelined models will perform gradient accumulation when training."
            )
        return own

    def __call__(self, iterator: Any) -> Any:
        with self._own_replicas():
            return super().__call__(iterator)

    @contextmanager
    def _own_replicas(self) -> Iterator[None]:
        """A block in which the IPUs of the device are replicas of all stages together."""
        settings = options_of(self._model).pipelining.settings(self._number_of_stages(), self._kind == "train")
        needed = 1 + max(settings.devices)
        ipus = self._model._distribute_strategy.device.target.ipus
        if ipus % needed:
            raise ValueError(
                f"Current device has {ipus} IPUs attached, however the current model requires a multiple of {needed} "
                f"IPUs; configure auto_select_ipus={needed}"
            )
        with replica_of(needed):
            yield

    def _run(self, batches: Batches) -> Any:
        if self._kind == "train":
            return super()._run(batches)
        found = None
        for part in _in_parts(batches, self._overlap()):
            found = self._call(self._evaluated, [part.count, part.nested])
        return found

    def _overlap(self) -> int:
        """The micro-batches that are on their way at once where nothing is trained."""
        return Schedule(options_of(self._model).pipelining.schedule, self._number_of_stages(), False).overlap

    def _number_of_stages(self) -> int:
        return 1 + max(each.pipeline_stage for each in stage_assignments(self._model))

    def _step(self, batches: Any) -> Any:
        """The logs of an update."""
        if self._options.batches == 1:
            batches = tf.nest.map_structure(lambda each: each[None] if tf.is_tensor(each) else each, batches)
        return self._piped(self._options.batches, self._own(batches, axis=1), self._trained)

    def _evaluated(self, count: int, batches: Any) -> Any:
        return self._reduced(self._piped(count, self._own(batches, axis=1), None))

    def _piped(self, count: int, batches: Any, update: Callable[..., Any] | None) -> Any:
        """The logs after ``count`` micro-batches."""
        x, y, weight = unpack_x_y_sample_weight(batches)
        form = (y, weight)
        leaves = [each for each in tf.nest.flatten(form) if each is not None]
        names: list[str] = []

        def finish(outputs: Any, losses: list[Any], *data: Any) -> list[Any]:
            rest = iter(data)
            nested = [None if each is None else next(rest) for each in tf.nest.flatten(form)]
            y, weight = tf.nest.pack_sequence_as(form, nested)
            loss, logs = self._loss_and_logs(x, outputs, losses, y, weight)
            names[:] = logs
            return [*([loss] if update is not None else []), *logs.values()]

        found = self._pipeline(x, leaves, count, finish, update)
        return {name: rows[-1] for name, rows in zip(names, found[update is not None :], strict=True)}

    def _pipeline(self, x: Any, more: list[Any], count: int, finish: Any, update: Any) -> list[Any]:
        """Rows of what ``finish`` gives; ``more`` are data of the last stage."""
        model = self._model
        one = at(x, 0)
        calls = calls_of_stages(model, one)
        stages = Stages(model, graph_of(model, one), calls, training=update is not None)
        data = [tuple(each) for each in stages.data(x)]
        data[-1] = (*data[-1], *more)
        training = None if update is None else Training([each._value for each in model.trainable_variables], update)
        return run_pipeline(stages.functions(finish), self._settings(len(calls), count), (), data, training)

    def _settings(self, stages: int, count: int) -> Settings:
        own = options_of(self._model).pipelining
        return own.settings(stages, self._kind == "train", count)

    def _loss_and_logs(
        self, x: Any, outputs: Any, losses: list[Any], y: Any, weight: Any
    ) -> tuple[Any, dict[str, Any]]:
        """The loss of a micro-batch, and the metrics with it."""
        model = self._model
        own = None if model._compile_loss is None else model._compile_loss(y, outputs, weight)
        terms = [each for each in (own, *losses) if each is not None]
        if not terms:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        loss = terms[0] if len(terms) == 1 else tf.add_n(terms)
        rows = next(each for each in tf.nest.flatten(x) if each is not None).shape[1]
        model._loss_tracker.update_state(
            loss_module.unscale_loss_for_distribution(loss), sample_weight=tf.constant(rows)
        )
        if self._kind == "train":
            loss = model.optimizer.scale_loss(loss)
        return loss, model.compute_metrics(None, y, outputs, sample_weight=weight)

    def _trained(self, pairs: list[tuple[Any, Any]]) -> None:
        """Change the weights."""
        found = {id(own_handle(variable)): gradient for gradient, variable in pairs}
        own = [each for each in self._model.trainable_variables if id(own_handle(each._value)) in found]
        gradients = [tf.cast(found[id(own_handle(each._value))], each.dtype) for each in own]
        self._model.optimizer.apply(gradients, own)


class PipelinedPredictions(PredictFunction):
    """Predictions of a model in stages; every replica makes all of them."""

    def __init__(self, model: Any, kind: str) -> None:
        """As of ``PipelinedSteps``."""
        self._steps = PipelinedSteps(model, kind)
        super().__init__(model, kind)

    def __call__(self, batches: Any) -> Any:
        with self._steps._own_replicas():
            return super().__call__(batches)

    def _predicted(self, batches: Batches) -> Any:
        found = [
            merged(self._call(self._piped, [part.count, part.nested]))
            for part in _in_parts(batches, self._steps._overlap())
        ]
        return tf.nest.map_structure(lambda *each: each[0] if len(each) == 1 else tf.concat(each, 0), *found)

    def _piped(self, count: int, batches: Any) -> Any:
        x, _, _ = unpack_x_y_sample_weight(batches)
        form: list[Any] = []

        def finish(outputs: Any, losses: list[Any]) -> list[Any]:
            form[:] = [outputs]
            return tf.nest.flatten(outputs)

        rows = self._steps._pipeline(x, [], count, finish, None)
        return tf.nest.pack_sequence_as(form[0], rows)


def _in_parts(batches: Batches, overlap: int) -> list[Batches]:
    """Batches that fill a pipeline, and those that are left over."""
    full = batches.count // overlap * overlap
    ends = [(0, full), (full, batches.count)]
    return [
        Batches(end - begin, tf.nest.map_structure(lambda each: _rows(each, begin, end), batches.nested))  # noqa: B023
        for begin, end in ends
        if begin < end
    ]


def _rows(leaf: Any, begin: int, end: int) -> Any:
    return leaf[begin:end] if hasattr(leaf, "shape") else leaf


def _check_own_methods(model: Any, kind: str) -> None:
    names = [FUNCTIONS[kind], *(() if kind == "predict" else ("compute_loss",))]
    if isinstance(model, keras.src.models.functional.Functional | keras.Sequential):
        names.append("call")
    for name in names:
        own = getattr(type(model), name)
        if not own.__module__.startswith("keras."):
            raise RuntimeError(
                f"The function `{name}` for the model {model.name} has been overridden. This is not supported for "
                "pipelined Keras models."
            )
