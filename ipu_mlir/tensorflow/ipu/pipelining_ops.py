"""Pipelines of stages on several IPUs (guide 21.15.7)."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.feeds import as_list
from ipu_mlir.tensorflow.gradient_accumulation import GradientAccumulationReductionMethod, type_of_sums
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue, arguments_of
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedMode, IPUOutfeedQueue
from ipu_mlir.tensorflow.ipu.loops import repeat
from ipu_mlir.tensorflow.pipelines.groups import joined
from ipu_mlir.tensorflow.pipelines.optimizers import OptimizerFunctionOutput, training_of
from ipu_mlir.tensorflow.pipelines.run import Ready, trace_stages
from ipu_mlir.tensorflow.pipelines.settings import (
    PipelineSchedule,
    PipelineStageOptions,
    RecomputationMode,
    check_flags,
    settings_of,
    whole_number,
)
from ipu_mlir.tensorflow.pipelines.stages import are_checkpoints_kept, arguments, autographed, with_checkpoints
from ipu_mlir.tensorflow.variables import is_tracing

__all__ = [
    "OptimizerFunctionOutput",
    "PipelineSchedule",
    "PipelineStageOptions",
    "RecomputationMode",
    "pipeline",
    "recomputation_checkpoint",
]


def pipeline(
    computational_stages: Sequence[Any],
    gradient_accumulation_count: Any = None,
    gradient_accumulation_dtype: Any = None,
    repeat_count: int = 1,
    batch_serialization_iterations: int = 1,
    inputs: Sequence[Any] | None = None,
    infeed_queue: IPUInfeedQueue | None = None,
    outfeed_queue: IPUOutfeedQueue | None = None,
    optimizer_function: Callable[..., OptimizerFunctionOutput] | None = None,
    device_mapping: Sequence[Any] | None = None,
    pipeline_schedule: PipelineSchedule | None = None,
    recomputation_mode: RecomputationMode | None = None,
    forward_propagation_stages_poplar_options: Sequence[PipelineStageOptions] | None = None,
    backward_propagation_stages_poplar_options: Sequence[PipelineStageOptions] | None = None,
    weight_update_poplar_options: PipelineStageOptions | None = None,
    offload_weight_update_variables: bool | None = None,
    replicated_optimizer_state_sharding: bool = False,
    offload_activations: bool | None = None,
    offload_gradient_accumulation_buffers: bool | None = None,
    replicated_weight_sharding: bool | None = None,
    offload_weights: bool | None = None,
    continuous_weight_updates: bool = False,
    outfeed_loss: bool = False,
    accumulate_outfeed: bool = False,
    accumulate_outfeed_dtype: Any = None,
    outfeed_mask: Sequence[bool] | None = None,
    reduction_method: Any = GradientAccumulationReductionMethod.SUM,
    name: str | None = None,
) -> tf.Operation:
    """Run stages on several IPUs at once, each on another mini-batch.

        pipelining_ops.pipeline([encode, decode], gradient_accumulation_count=8, infeed_queue=infeed,
                                outfeed_queue=outfeed, optimizer_function=optimizer)

    Each stage takes what the stage before gives, the first one ``inputs`` and an element of ``infeed_queue``; what the
    last one gives goes to ``outfeed_queue``. Stages are differentiated as TensorFlow does.

    Args:
        computational_stages: functions of tensors that give tensors, two at least. A list of functions in the place of
            one is a stage whose functions take the same and run on IPUs of their own; their results follow each other.
        gradient_accumulation_count: mini-batches of an update, a number or a tensor of one integer.
        gradient_accumulation_dtype: the type in which gradients are added up; what gives one for a variable; or None
            for that of the variable.
        repeat_count: how often all of it runs.
        batch_serialization_iterations: parts of a mini-batch that a stage works on before the next stage begins.
        inputs: tensors that are the same for each mini-batch.
        optimizer_function: takes what the last stage gives, and says how the pipeline is trained.
        device_mapping: the IPU of each stage; 0, 1, 2, ... if not given.
        pipeline_schedule: Grouped, if not given; Sequential with batch serialization.
        recomputation_mode: how much is computed again where the configuration has ``allow_recompute``.
        forward_propagation_stages_poplar_options, backward_propagation_stages_poplar_options,
            weight_update_poplar_options: checked, without effect.
        offload_weight_update_variables: whether variables that only the update uses are in remote memory in between.
        replicated_optimizer_state_sharding: whether each replica keeps a part of them there.
        offload_activations: whether what backward stages wait for is in remote memory.
        offload_gradient_accumulation_buffers: whether sums of gradients are in remote memory.
        replicated_weight_sharding: whether each replica keeps a part of the weights in remote memory.
        offload_weights: whether weights are in remote memory between runs of the pipeline.
        outfeed_loss: whether the loss goes to ``outfeed_queue`` in the place of what the last stage gives.
        accumulate_outfeed: whether the sum over the mini-batches of an update goes there, once.
        accumulate_outfeed_dtype: the type of that sum; what gives one for a tensor; or None for that of the tensor.
        outfeed_mask: for each result of the last stage, whether it does not go there.
        reduction_method: what an update is made of: SUM, MEAN or RUNNING_MEAN.

    Returns:
        An operation.

    Raises:
        TypeError, ValueError, NotImplementedError: an argument is wrong, or contradicts another.
        FailedPreconditionError: the schedule cannot cut the number of mini-batches.
        UnimplementedError: the mode of recomputation is not one of the schedule.
    """
    stages, devices = joined(computational_stages, device_mapping)
    settings = settings_of(
        len(stages),
        optimizer_function is not None,
        gradient_accumulation_count,
        gradient_accumulation_dtype,
        batch_serialization_iterations,
        devices,
        pipeline_schedule,
        recomputation_mode,
        forward_propagation_stages_poplar_options,
        backward_propagation_stages_poplar_options,
        weight_update_poplar_options,
        offload_weight_update_variables,
        replicated_optimizer_state_sharding,
        offload_activations,
        offload_gradient_accumulation_buffers,
        replicated_weight_sharding,
        offload_weights,
        continuous_weight_updates,
        reduction_method,
    )
    if not tf.is_tensor(repeat_count):
        repeat_count = whole_number(repeat_count, "repeat_count", 0)
    if optimizer_function is not None and not callable(optimizer_function):
        raise TypeError(
            f"optimizer_function must be a function of what the last stage gives, got {optimizer_function!r}"
        )
    check_flags(outfeed_loss=outfeed_loss, accumulate_outfeed=accumulate_outfeed)
    _check_outfeed(optimizer_function, outfeed_queue, outfeed_loss, outfeed_mask, accumulate_outfeed)
    if not is_tracing():
        raise RuntimeError("a pipeline runs in programs: call it in what strategy.run or ipu_compiler.compile runs")
    given = [tf.convert_to_tensor(each) for each in as_list(inputs)]
    last = _Last(stages[-1], optimizer_function, outfeed_queue, outfeed_loss, outfeed_mask, accumulate_outfeed)
    last.sums_dtype = accumulate_outfeed_dtype
    with tf.name_scope(name or "pipeline"), with_checkpoints(settings.keeps_checkpoints):
        taken = None if infeed_queue is None else lambda: arguments_of(infeed_queue)
        traced = trace_stages([*stages[:-1], last.function], given, taken=taken)
        training = None if last.optimizer is None else training_of(last.optimizer)
        ready = Ready(traced, settings, training, last.kept)

        def body() -> None:
            sums = ready.run(given)
            if sums and outfeed_queue is not None:
                outfeed_queue.enqueue(tf.nest.pack_sequence_as(last.element, sums))

        if not tf.is_tensor(repeat_count) and repeat_count == 1:
            body()
        else:
            repeat(repeat_count, body)
    return tf.no_op()


def recomputation_checkpoint(tensors: Any, name: str | None = None) -> Any:
    """Nested tensors of a stage that are stored for its backward part, where that computes others again.

    Effective in the mode ``RecomputeAndBackpropagateInterleaved``; elsewhere they are ``tensors`` as they are.
    """
    return tf.nest.map_structure(lambda each: _checkpoint(tf.convert_to_tensor(each), name), tensors)


def _checkpoint(tensor: tf.Tensor, name: str | None) -> tf.Tensor:
    if not are_checkpoints_kept():
        return tf.identity(tensor, name)

    @tf.custom_gradient
    def kept(value: tf.Tensor) -> Any:
        return call("keep", [value], [tf.TensorSpec(value.shape, value.dtype)])[0], lambda slope: slope

    return kept(tensor)


class _Last:
    """The last stage: what it does with its results.

    Attributes:
        optimizer: how the pipeline is trained; None before it is traced, and if it is not.
        kept: for each result of ``function``, what the program gets.
        element: what goes to the queue, as it is nested.
        sums_dtype: the type of sums; what gives one for a tensor; None for that of the tensor.
    """

    def __init__(
        self, stage: Any, optimizer: Any, queue: Any, is_loss: bool, mask: Sequence[bool] | None, is_sum: bool
    ) -> None:
        self._optimizer, self._queue, self._is_loss, self._mask, self._is_sum = optimizer, queue, is_loss, mask, is_sum
        self._stage = autographed(stage)
        self.optimizer: OptimizerFunctionOutput | None = None
        self.kept: list[str] = []
        self.element: Any = None
        self.sums_dtype: Any = None

        @functools.wraps(stage)
        def function(*args: Any, **kwargs: Any) -> list[tf.Tensor]:
            return self._traced(self._stage(*args, **kwargs))

        self.function = function

    def _traced(self, outputs: Any) -> list[tf.Tensor]:
        if not isinstance(outputs, Mapping):
            outputs = [each for each in as_list(outputs) if each is not None and not isinstance(each, tf.Operation)]
        if self._optimizer is not None:
            by_place, by_name = arguments(outputs)
            self.optimizer = autographed(self._optimizer)(*by_place, **by_name)
            if not isinstance(self.optimizer, OptimizerFunctionOutput):
                raise TypeError(f"optimizer_function must return OptimizerFunctionOutput, got {self.optimizer!r}")
        elif self._queue is None and tf.nest.flatten(outputs):
            raise ValueError(
                f"The last computational stage has tensor outputs: {outputs}, but no outfeed_queue has been provided."
            )
        self.element = self._element(outputs)
        results = [] if self.optimizer is None else [self.optimizer.loss]
        self.kept = ["none"] * len(results)
        if self._queue is None or not tf.nest.flatten(self.element):
            return results
        if not self._is_sum:
            self._queue.enqueue(self.element)
            return results
        tensors = [tf.convert_to_tensor(each) for each in tf.nest.flatten(self.element)]
        sums = [tf.cast(each, type_of_sums(self.sums_dtype, each)) for each in tensors]
        self.kept += ["sum"] * len(sums)
        return [*results, *sums]

    def _element(self, outputs: Any) -> Any:
        """What goes to the queue."""
        if self._is_loss and self.optimizer is not None:
            return self.optimizer.loss
        if self._mask is None:
            return outputs
        if isinstance(outputs, Mapping):
            _check_mask(self._mask, len(outputs))
            return {key: each for (key, each), hidden in zip(outputs.items(), self._mask, strict=True) if not hidden}
        _check_mask(self._mask, len(outputs))
        return [each for each, hidden in zip(outputs, self._mask, strict=True) if not hidden]


def _check_mask(mask: Sequence[bool], number: int) -> None:
    if len(mask) != number:
        raise ValueError(f"outfeed_mask has {len(mask)} entries, and the last computational stage gives {number}")


def _check_outfeed(optimizer: Any, queue: Any, is_loss: bool, mask: Any, is_sum: bool) -> None:
    if not isinstance(queue, IPUOutfeedQueue | None):
        raise TypeError(f"outfeed_queue must be an IPUOutfeedQueue, got {queue!r}")
    if not isinstance(mask, list | tuple | None):
        raise TypeError(f"outfeed_mask must be a list or a tuple of True and False, got {mask!r}")
    for name, value in (("outfeed_loss", is_loss), ("outfeed_mask", mask)):
        if value and optimizer is None:
            raise ValueError(f"An optimizer_function must be provided when {name} is set.")
        if value and queue is None:
            raise ValueError(f"An outfeed_queue must be provided when {name} is set.")
    if is_loss and mask:
        raise ValueError("Only one of outfeed_loss and outfeed_mask can be set.")
    if is_sum and queue is None:
        raise ValueError("An outfeed_queue must be provided when accumulate_outfeed is True.")
    if is_sum and queue is not None and queue._mode is not IPUOutfeedMode.ALL:
        raise ValueError("To accumulate the outfeed, it must be in IPUOutfeedMode ALL.")
