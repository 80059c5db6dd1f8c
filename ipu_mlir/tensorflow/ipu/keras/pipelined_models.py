"""Models whose layers are in pipeline stages on several IPUs (first edition of the guide, 4.3.3 and 4.3.4)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf
from keras.src.models.functional import Functional

from ipu_mlir.tensorflow.ipu.ipu_strategy import IPUStrategy
from ipu_mlir.tensorflow.ipu.keras.models import Model, Sequential
from ipu_mlir.tensorflow.keras.assignments import (
    FunctionalLayerPipelineStageAssignment,
    ModelLayerPipelineStageAssignment,
    SequentialLayerPipelineStageAssignment,
    check_graph,
)
from ipu_mlir.tensorflow.keras.extension import set_pipeline_stage_assignment, set_pipelining_options
from ipu_mlir.tensorflow.keras.graph import calls_of
from ipu_mlir.tensorflow.keras.marks import called_model, in_stage, stage_of
from ipu_mlir.tensorflow.keras.options import OF_PIPELINE, options_of

__all__ = [
    "FunctionalLayerPipelineStageAssignment",
    "ModelLayerPipelineStageAssignment",
    "PipelineModel",
    "PipelineSequential",
    "PipelineStage",
    "SequentialLayerPipelineStageAssignment",
]


class PipelineStage:
    """A block whose layers, and whose calls of layers, belong to a pipeline stage; those of calls count first.

        with ipu.keras.PipelineStage(0):
            x = keras.layers.Dense(4)(x)

    Entering it raises a ``ValueError`` if the stage is below 0, and a ``RuntimeError`` if there is no ``IPUStrategy``
    around, or another stage.
    """

    def __init__(self, stage: int) -> None:
        """Say which stage, counted from 0."""
        self._stage, self._inside = stage, ExitStack()

    def __enter__(self) -> "PipelineStage":
        around = (tf.distribute.get_strategy(), getattr(called_model(), "_distribute_strategy", None))
        if not any(isinstance(each, IPUStrategy) for each in around):
            raise RuntimeError(
                "PipelineStage may only be used from within an IPUStrategy context; enter it inside of strategy.scope()"
            )
        self._inside.enter_context(in_stage(self._stage))
        return self

    def __exit__(self, *given: Any) -> None:
        self._inside.close()


_OPTIONS = ("device_mapping", *(name for name in OF_PIPELINE if name not in ("continuous_weight_updates", "name")))
"""The arguments of both kinds of models that ``pipelining_ops.pipeline`` takes as well."""


class _InStages:
    """What both kinds of pipelines have; a step of ``fit`` and of ``evaluate`` is a whole run of the pipeline."""

    def _run_by(self, count: Any, options: dict[str, Any]) -> None:
        """Take options of the pipeline.

        Raises:
            TypeError, ValueError: one is none of those that there are.
        """
        mapping = options.pop("device_mapping")
        devices = mapping if mapping is None else list(mapping)
        set_pipelining_options(self, count, devices, **options)
        own = options_of(self)
        own.pipelining = replace(own.pipelining, counts_updates=True)

    def evaluate(self, *args: Any, steps: int | None = None, **kwargs: Any) -> Any:
        """As of ``keras.Model``; a step takes as many batches as one of ``fit``."""
        with self._whole_runs() as batches:
            whole = steps if steps is None else steps * batches
            return super().evaluate(*args, steps=whole, **kwargs)  # type: ignore[misc]

    def predict(self, *args: Any, steps: int | None = None, **kwargs: Any) -> Any:
        """As of ``keras.Model``; a step takes as many batches as one of ``fit``."""
        with self._whole_runs() as batches:
            whole = steps if steps is None else steps * batches
            return super().predict(*args, steps=whole, **kwargs)  # type: ignore[misc]

    @contextmanager
    def _whole_runs(self) -> Iterator[int]:
        """A block in which an execution takes the batches of whole runs of the pipeline; gives those of one."""
        model: Any = self
        own, batches = model.steps_per_execution, options_of(self).pipelining.batches
        model.steps_per_execution = own * batches
        try:
            yield batches
        finally:
            model.steps_per_execution = own

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Files of models do not say how their stages run.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "IPU Keras models do not support the `save` interface; use save_weights, and load_weights of a model that "
            "is made in the same way"
        )


class PipelineModel(_InStages, Model):
    """A functional model whose layers have been called in blocks of ``PipelineStage``.

    with ipu.keras.PipelineStage(0):
        hidden = keras.layers.Dense(64)(inputs)
    with ipu.keras.PipelineStage(1):
        outputs = keras.layers.Dense(10)(hidden)
    model = ipu.keras.PipelineModel(inputs, outputs, gradient_accumulation_count=8)
    """

    def __init__(
        self,
        *args: Any,
        gradient_accumulation_count: int,
        gradient_accumulation_dtype: Any = None,
        batch_serialization_iterations: int = 1,
        device_mapping: Any = None,
        pipeline_schedule: Any = None,
        recomputation_mode: Any = None,
        forward_propagation_stages_poplar_options: Any = None,
        backward_propagation_stages_poplar_options: Any = None,
        weight_update_poplar_options: Any = None,
        offload_weight_update_variables: bool | None = None,
        replicated_optimizer_state_sharding: bool | None = False,
        offload_activations: bool | None = None,
        offload_gradient_accumulation_buffers: bool | None = None,
        replicated_weight_sharding: bool | None = None,
        offload_weights: bool | None = None,
        layer_replacement: bool = False,
        **kwargs: Any,
    ) -> None:
        """As of ``keras.Model``; the rest is as of ``pipelining_ops.pipeline``.

        Raises:
            TypeError, ValueError: an option is none of those that there are; a layer has no stage.
        """
        given = locals()
        options = {name: given[name] for name in _OPTIONS}
        super().__init__(*args, layer_replacement=layer_replacement, **kwargs)
        if not isinstance(self, Functional):
            raise ValueError(
                "PipelineModel is made of inputs and outputs; a subclass of keras.Model with a call has its stages by "
                "set_pipeline_stage_assignment"
            )
        calls = calls_of(self)
        check_graph(calls, self.inputs, [stage_of(node) for node in calls])
        self._run_by(gradient_accumulation_count, options)


class PipelineSequential(_InStages, Sequential):
    """A stack of layers, in a list for each stage.

    model = ipu.keras.PipelineSequential([[Dense(64), Dense(32)], [Dense(10)]], gradient_accumulation_count=8)
    """

    def __init__(
        self,
        stages: Any,
        gradient_accumulation_count: int,
        gradient_accumulation_dtype: Any = None,
        batch_serialization_iterations: int = 1,
        device_mapping: Any = None,
        pipeline_schedule: Any = None,
        recomputation_mode: Any = None,
        forward_propagation_stages_poplar_options: Any = None,
        backward_propagation_stages_poplar_options: Any = None,
        weight_update_poplar_options: Any = None,
        offload_weight_update_variables: bool | None = None,
        replicated_optimizer_state_sharding: bool | None = False,
        offload_activations: bool | None = None,
        offload_gradient_accumulation_buffers: bool | None = None,
        replicated_weight_sharding: bool | None = None,
        offload_weights: bool | None = None,
        layer_replacement: bool = False,
        **kwargs: Any,
    ) -> None:
        """Make a model; all but ``stages`` is as of ``pipelining_ops.pipeline``.

        Args:
            stages: a list of lists of layers.

        Raises:
            TypeError, ValueError: an option is none of those that there are; the stages are no such lists.
        """
        given = locals()
        options = {name: given[name] for name in _OPTIONS}
        _check_stages(stages)
        super().__init__([layer for stage in stages for layer in stage], layer_replacement=layer_replacement, **kwargs)
        numbers = [number for number, stage in enumerate(stages) for _ in stage]
        skipped = len(numbers) - len(self.layers)  # an InputLayer
        set_pipeline_stage_assignment(self, numbers[skipped:])
        self._run_by(gradient_accumulation_count, options)


def _check_stages(stages: Any) -> None:
    if not isinstance(stages, list) or not stages:
        raise ValueError(
            "An IPU pipeline must take a non-empty list of stages, where each stage is a list of Keras Layers, got "
            f"{stages!r}"
        )
    for stage in stages:
        if not isinstance(stage, list):
            raise ValueError(
                "An IPU pipeline may only contain lists of stages, where each stage is a list of Keras Layers, got "
                f"{stage!r}"
            )
        for layer in stage:
            if not isinstance(layer, keras.Layer):
                raise ValueError(f"Each list in the `stages` list must contain only Keras Layers, got {layer!r}")
