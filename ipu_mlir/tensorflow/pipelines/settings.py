"""How a pipeline runs, and the options of the guide that say it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.dialects.analysis.pipelines import REDUCTIONS, Recompute, Reduction, Schedule, ScheduleName
from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.gradient_accumulation import accumulator_type

_MOST = 2**31 - 1


class PipelineSchedule(Enum):
    """The order in which the stages of a pipeline run."""

    Grouped = 0
    Interleaved = 1
    Sequential = 2


class RecomputationMode(Enum):
    """How a pipeline computes again what its backward stages read, where ``allow_recompute`` is set."""

    Auto = 0
    RecomputeThenBackpropagate = 1
    RecomputeAndBackpropagateInterleaved = 2


class PipelineStageOptions:
    """Options of libraries for a stage; they are checked, and have no effect."""

    def __init__(
        self,
        convolution_options: dict[str, Any] | None = None,
        matmul_options: dict[str, Any] | None = None,
        slice_options: dict[str, Any] | None = None,
    ) -> None:
        """Keep options.

        Raises:
            TypeError: one is no dict.
        """
        given = {
            "convolution_options": convolution_options,
            "matmul_options": matmul_options,
            "slice_options": slice_options,
        }
        for name, options in given.items():
            if options is not None and not isinstance(options, dict):
                raise TypeError(f"{name} must be a dict, got {options!r}")
            setattr(self, name, dict(options or {}))


@dataclass(frozen=True)
class Settings:
    """How a pipeline runs: the words of ``ipu.pipeline``, and where variables are between its runs.

    Attributes:
        count: micro-batches, a number or a tensor of one int32.
        devices: the IPU of each stage.
        accumulator: the type in which gradients are added up, or what gives one for a variable; None for that of each
            variable.
        offload: what waits in remote memory: stored, gradients.
        serialization: micro-batches that a stage works on before the next stage begins.
        keeps_checkpoints: whether ``recomputation_checkpoint`` has an effect.
        update_variables: whether variables that only the update uses are in remote memory between updates, in parts of
            the replicas if it is True; None if they are on tiles.
        weights: the same for variables that are trained.
    """

    count: Any
    devices: Sequence[int]
    schedule: ScheduleName = "grouped"
    reduction: Reduction = "sum"
    recompute: Recompute = "none"
    accumulator: tf.DType | Callable[[Any], tf.DType | None] | None = None
    offload: Sequence[str] = ()
    serialization: int = 1
    keeps_checkpoints: bool = False
    update_variables: bool | None = None
    weights: bool | None = None

    def accumulator_of(self, variable: Any) -> tf.DType:
        """The type in which gradients by ``variable`` are added up."""
        return accumulator_type(self.accumulator, variable)


def settings_of(
    stages: int,
    is_training: bool,
    gradient_accumulation_count: Any = None,
    gradient_accumulation_dtype: Any = None,
    batch_serialization_iterations: int = 1,
    device_mapping: Sequence[int] | None = None,
    pipeline_schedule: PipelineSchedule | None = None,
    recomputation_mode: RecomputationMode | None = None,
    forward_propagation_stages_poplar_options: Sequence[PipelineStageOptions] | None = None,
    backward_propagation_stages_poplar_options: Sequence[PipelineStageOptions] | None = None,
    weight_update_poplar_options: PipelineStageOptions | None = None,
    offload_weight_update_variables: bool | None = None,
    replicated_optimizer_state_sharding: bool | None = False,
    offload_activations: bool | None = None,
    offload_gradient_accumulation_buffers: bool | None = None,
    replicated_weight_sharding: bool | None = None,
    offload_weights: bool | None = None,
    continuous_weight_updates: bool = False,
    reduction_method: Any = "SUM",
) -> Settings:
    """The settings that the options of the guide mean for a pipeline of so many ``stages``.

    Raises:
        TypeError, ValueError, NotImplementedError: an option is none of those that there are, or contradicts another.
        FailedPreconditionError: the schedule cannot cut the number of mini-batches.
        UnimplementedError: the mode of recomputation is not one of the schedule.
    """
    check_flags(
        offload_weight_update_variables=offload_weight_update_variables,
        replicated_optimizer_state_sharding=replicated_optimizer_state_sharding,
        offload_activations=offload_activations,
        offload_gradient_accumulation_buffers=offload_gradient_accumulation_buffers,
        replicated_weight_sharding=replicated_weight_sharding,
        offload_weights=offload_weights,
        continuous_weight_updates=continuous_weight_updates,
    )
    if continuous_weight_updates:
        raise NotImplementedError("Continuous weight updates are currently not supported.")
    if stages < 2:
        raise ValueError("Pipeline requires at least two computational stages.")
    count, reduction = checked_count(gradient_accumulation_count), _reduction(reduction_method)
    serialization = whole_number(batch_serialization_iterations, "batch_serialization_iterations", 1)
    if reduction != "sum" and serialization != 1:
        raise ValueError(
            f"batch_serialization_iterations={serialization} adds gradients up: it goes with reduction_method=SUM, got "
            f"{reduction.upper()}"
        )
    schedule = _schedule(pipeline_schedule, serialization)
    devices = _devices(device_mapping, stages, serialization)
    if schedule == "interleaved" and is_training and len(set(devices)) < stages:
        raise NotImplementedError(
            "The pipelining schedule Interleaved does not support multiple pipeline stages on the same device for "
            f"training graphs, got device_mapping={devices}; use Grouped"
        )
    options = {
        "forward_propagation_stages_poplar_options": forward_propagation_stages_poplar_options,
        "backward_propagation_stages_poplar_options": backward_propagation_stages_poplar_options,
    }
    for name, given in options.items():
        _check_stage_options(name, given, stages)
    if not isinstance(weight_update_poplar_options, PipelineStageOptions | None):
        raise TypeError(
            f"weight_update_poplar_options must be a PipelineStageOptions, got {weight_update_poplar_options!r}"
        )
    is_cut = bool(offload_weight_update_variables if replicated_optimizer_state_sharding is None else False)
    is_cut = is_cut or replicated_optimizer_state_sharding is True
    if is_cut and offload_weight_update_variables is False:
        raise ValueError(
            "replicated_optimizer_state_sharding needs offload_weight_update_variables: optimizer state must be "
            "offloaded to be cut into parts of replicas; leave offload_weight_update_variables out, or let it be True"
        )
    whole = count * serialization
    _check_whole(whole, Schedule(schedule, stages, is_training))
    rests = replicated_weight_sharding if offload_weights is None else offload_weights
    offload = {"stored": offload_activations, "gradients": offload_gradient_accumulation_buffers}
    recompute, keeps = _recomputation(recomputation_mode, schedule, is_training)
    return Settings(
        whole,
        devices,
        schedule,
        reduction,
        recompute,
        gradient_accumulation_dtype,
        [name for name, wanted in offload.items() if wanted and is_training],
        serialization,
        keeps,
        is_cut if is_cut or offload_weight_update_variables else None,
        bool(replicated_weight_sharding) if rests or replicated_weight_sharding else None,
    )


def check_flags(**flags: Any) -> None:
    """Refuse values of options, by name, that are none of True, False and None."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_ | None):
            raise TypeError(f"{name} must be True, False or None, got {value!r}")


def whole_number(value: Any, name: str, least: int) -> int:
    """The value of the option ``name``, which is a number from ``least`` on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a number from {least}, got {value!r}")
    return int(value)


def checked_count(count: Any) -> Any:
    """The number of mini-batches of an update: a number, or a tensor of one int32 that is known at run time.

    Raises:
        TypeError: it is no integer.
        ValueError: it is not given, or out of range.
    """
    if count is None:
        raise ValueError("gradient_accumulation_count must be specified.")
    known = tf.get_static_value(count) if tf.is_tensor(count) else count
    if known is None:
        if not count.dtype.is_integer or count.shape.rank:
            raise TypeError(
                f"gradient_accumulation_count is a number or one integer, got {count.dtype.name}{list(count.shape)}"
            )
        return tf.cast(count, tf.int32)
    if (
        isinstance(known, bool)
        or np.ndim(known)
        or not isinstance(known, int | float | np.integer | np.ndarray)
        or known % 1
    ):
        raise TypeError(f"gradient_accumulation_count is an integer, got {count!r}")
    if not 0 < int(known) <= _MOST:
        raise ValueError(f"gradient_accumulation_count must be a positive number of 32 bits, got {int(known)}")
    return int(known)


def _check_whole(count: Any, schedule: Schedule) -> None:
    overlap = schedule.overlap
    if isinstance(count, int) and count % overlap:
        below, above = count // overlap * overlap, (count // overlap + 1) * overlap
        valid = f"{below} or {above}" if below else f"{above}"
        raise tf.errors.FailedPreconditionError(
            None,
            None,
            f"The number of iterations of the pipeline must be a multiple of {overlap}, but it is {count}: the "
            f"schedule {schedule.name} of {schedule.stages} stages takes {valid}",
        )


def _reduction(method: Any) -> Reduction:
    word = str(getattr(method, "name", method)).lower()
    found: Reduction | None = next((each for each in REDUCTIONS if each == word), None)
    if found is None:
        raise ValueError(
            f"Cannot parse {method} as one of GradientAccumulationReductionMethod: "
            f"{', '.join(each.upper() for each in REDUCTIONS)}"
        )
    return found


def _schedule(given: PipelineSchedule | None, serialization: int) -> ScheduleName:
    if given is not None and not isinstance(given, PipelineSchedule):
        raise TypeError(f"pipeline_schedule must be a PipelineSchedule, got {given!r}")
    found = given or (PipelineSchedule.Grouped if serialization == 1 else PipelineSchedule.Sequential)
    if serialization > 1 and found is not PipelineSchedule.Sequential:
        raise NotImplementedError(
            "Batch serialization is only supported with the Sequential schedule, but got "
            f"batch_serialization_iterations={serialization} and {found}"
        )
    names: dict[PipelineSchedule, ScheduleName] = {
        PipelineSchedule.Grouped: "grouped",
        PipelineSchedule.Interleaved: "interleaved",
        PipelineSchedule.Sequential: "sequential",
    }
    return names[found]


def _devices(mapping: Sequence[int] | None, stages: int, serialization: int) -> list[int]:
    if mapping is None:
        return [0] * stages if serialization > 1 else list(range(stages))
    if not isinstance(mapping, list | tuple):
        raise TypeError(f"device_mapping must be a list or a tuple with an IPU for each stage, got {mapping!r}")
    if len(mapping) != stages:
        raise ValueError(f"Each stage must be mapped to an IPU: {len(mapping)} mappings != {stages} stages")
    devices = [whole_number(each, "an IPU of device_mapping", 0) for each in mapping]
    if serialization > 1 and len(set(mapping)) > 1:
        raise NotImplementedError(
            "When using batch serialization, all the pipeline stages need to be mapped to a single device, got "
            f"device_mapping={list(mapping)}"
        )
    return devices


def _check_stage_options(name: str, given: Any, stages: int) -> None:
    if given is None:
        return
    if not isinstance(given, list | tuple):
        raise TypeError(f"{name} must be a list or a tuple with a PipelineStageOptions for each stage, got {given!r}")
    if len(given) != stages:
        raise ValueError(f"{name} must have an entry for each stage: {len(given)} options != {stages} stages")
    for each in given:
        if not isinstance(each, PipelineStageOptions):
            raise TypeError(f"{name} must hold PipelineStageOptions, got {each!r}")


def _recomputation(mode: RecomputationMode | None, schedule: ScheduleName, is_training: bool) -> tuple[Recompute, bool]:
    """How much is computed again, and whether checkpoints are kept."""
    if mode is not None and not isinstance(mode, RecomputationMode):
        raise TypeError(f"recomputation_mode must be a RecomputationMode, got {mode!r}")
    then, mixed = RecomputationMode.RecomputeThenBackpropagate, RecomputationMode.RecomputeAndBackpropagateInterleaved
    if mode is then and schedule == "sequential":
        raise tf.errors.UnimplementedError(
            None, None, f"{mode} is not supported with the schedule Sequential; use {mixed}"
        )
    if mode is mixed and schedule == "interleaved":
        raise tf.errors.UnimplementedError(
            None, None, f"{mode} is not supported with the schedule Interleaved; use {then}"
        )
    if SYSTEM.config is None or not SYSTEM.config.allow_recompute or not is_training:
        return "none", False
    return "inputs", mode is mixed or (mode in (None, RecomputationMode.Auto) and schedule == "sequential")
