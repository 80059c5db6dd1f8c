"""Options of models in the scope of an ``IPUStrategy``: how gradients accumulate, and how pipelines run."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ipu_mlir.dialects.analysis.pipelines import Schedule, ScheduleName
from ipu_mlir.tensorflow.gradient_accumulation import GradientAccumulationReductionMethod
from ipu_mlir.tensorflow.pipelines.settings import PipelineSchedule, Settings, settings_of

_METHOD = GradientAccumulationReductionMethod.SUM
METRIC_REDUCTIONS = ("NONE", "LIST", "SUM", "MEAN")
_OF_WRAPPER = ("offload_weight_update_variables", "replicated_optimizer_state_sharding", "dtype", "name")
OF_PIPELINE = (
    "gradient_accumulation_dtype",
    "batch_serialization_iterations",
    "pipeline_schedule",
    "recomputation_mode",
    "forward_propagation_stages_poplar_options",
    "backward_propagation_stages_poplar_options",
    "weight_update_poplar_options",
    "offload_weight_update_variables",
    "replicated_optimizer_state_sharding",
    "offload_activations",
    "offload_gradient_accumulation_buffers",
    "replicated_weight_sharding",
    "offload_weights",
    "continuous_weight_updates",
    "name",
)
_BY_KERAS = ("computational_stages", "repeat_count", "inputs", "infeed_queue", "outfeed_queue", "optimizer_function")
_NOT_IN_KERAS = ("outfeed_loss", "outfeed_mask", "accumulate_outfeed_dtype")
_OWN_ARGUMENTS = {
    "gradient_accumulation_count": "gradient_accumulation_steps_per_replica",
    "reduction_method": "gradient_accumulation_reduction_method",
}
_OF_QUEUES = ("prefetch_depth", "optimise_latency", "buffer_depth")


@dataclass(frozen=True)
class Accumulation:
    """How gradients of several steps become one.

    Attributes:
        steps: how many of a replica make an update; None while nobody has said it.
        method: what an update is made of.
        options: by name; those of the accumulating optimizer, or of the pipeline.
        counts_updates: whether a step of ``fit`` is an update, as in the first edition of the guide; otherwise it is a
            batch.
    """

    steps: int | None = None
    method: GradientAccumulationReductionMethod = _METHOD
    options: Mapping[str, Any] = field(default_factory=dict)
    counts_updates: bool = False

    @property
    def batches(self) -> int:
        """Batches of a replica that make an update."""
        return (self.steps or 1) * self.options.get("batch_serialization_iterations", 1)

    def with_steps(self, steps: int | None, method: Any) -> Self:
        """The same, with a number of steps, if there is one, and a method."""
        if steps is not None and (type(steps) is not int or steps < 1):
            raise ValueError(
                f"Expected `gradient_accumulation_steps_per_replica` to be a positive integer, but got {steps!r} "
                "instead."
            )
        method = GradientAccumulationReductionMethod(method)
        return replace(self, steps=self.steps if steps is None else steps, method=method)

    def with_wrapper(self, options: Mapping[str, Any]) -> Self:
        """The same, with options of the optimizer that accumulates."""
        where = "gradient_accumulation_optimizer_kwargs"
        if "opt" in options:
            raise ValueError(
                f"Found `opt` key in `{where}`. This is not supported as the optimizer which the model has been "
                "compiled with is automatically wrapped."
            )
        if "num_mini_batches" in options:
            raise ValueError(
                f"Found `num_mini_batches` key in `{where}`. Set the `gradient_accumulation_steps_per_replica` "
                "argument to `set_gradient_accumulation_options` instead."
            )
        _check_names(options, _OF_WRAPPER, "set_gradient_accumulation_options")
        return replace(self, options={**self.options, **options})


@dataclass(frozen=True)
class Pipelining(Accumulation):
    """How the stages of a model run.

    Attributes:
        devices: the IPU of each stage; None for one after another.
    """

    devices: tuple[int, ...] | None = None

    def with_devices(self, devices: Any) -> Self:
        """The same, with an IPU for each stage, if some are given."""
        if devices is None:
            return self
        if not isinstance(devices, list) or not all(type(each) is int for each in devices):
            raise ValueError(f"Expected `device_mapping` to be a list of integers, but got {devices!r} instead.")
        return replace(self, devices=tuple(devices))

    def with_pipeline(self, options: Mapping[str, Any]) -> Self:
        """The same, with options of the pipeline."""
        where = "`pipelining_kwargs`"
        for name, instead in _OWN_ARGUMENTS.items():
            if name in options:
                raise ValueError(
                    f"Found `{name}` key in {where}. Set the `{instead}` argument to `set_pipelining_options` instead."
                )
        for name in _BY_KERAS:
            if name in options:
                raise ValueError(f"Found `{name}` key in {where}. This argument is automatically set by Keras.")
        for name in _NOT_IN_KERAS:
            if name in options:
                raise ValueError(f"Found `{name}` key in {where}. This argument is not compatible with Keras.")
        _check_names(options, OF_PIPELINE, "set_pipelining_options")
        return replace(self, options={**self.options, **options})

    @property
    def schedule(self) -> ScheduleName:
        """The order in which stages run."""
        if self._serialization > 1 or self.options.get("pipeline_schedule") is PipelineSchedule.Sequential:
            return "sequential"
        return "interleaved" if self.options.get("pipeline_schedule") is PipelineSchedule.Interleaved else "grouped"

    @property
    def _serialization(self) -> int:
        return self.options.get("batch_serialization_iterations", 1)

    def settings(self, stages: int, training: bool, count: int = 1) -> Settings:
        """The settings of a pipeline that trains, or of one that only runs forwards for ``count`` batches.

        Batches that do not fill the pipeline go through it one after another.

        Raises:
            TypeError, ValueError, NotImplementedError: options contradict each other, or the number of stages.
            FailedPreconditionError: the schedule cannot cut the number of steps of an update.
        """
        options = {name: each for name, each in self.options.items() if name != "name"}
        devices = None if self.devices is None else list(self.devices)
        if training:
            method = self.method.name
            return settings_of(
                stages, True, self.steps or 1, device_mapping=devices, reduction_method=method, **options
            )
        if self._serialization > 1:
            devices, options["batch_serialization_iterations"] = devices or [0] * stages, 1
            options["pipeline_schedule"] = PipelineSchedule.Sequential
        if Schedule(self.schedule, stages, False).broken_count(count) is not None:
            options["pipeline_schedule"] = PipelineSchedule.Sequential
        return settings_of(stages, False, count, device_mapping=devices, **options)


@dataclass
class Options:
    """The options of a model.

    Attributes:
        stages: the stage of each call of a layer, as assignments; none of a model that runs as a whole whatever blocks
            its layers were made in, and None where only these blocks say it.
        metric_reduction: how the metrics of replicas become those that callbacks see.
    """

    accumulation: Accumulation = Accumulation()
    pipelining: Pipelining = Pipelining()
    stages: list[Any] | None = None
    metric_reduction: str = "NONE"


_OPTIONS = "_ipu_options"


def options_of(model: Any) -> Options:
    """The options of a model."""
    return model.__dict__.setdefault(_OPTIONS, Options())


def check_queue_options(options: Mapping[str, Any], where: str) -> None:
    """Check options of the queues of ``fit``, which have no effect: batches go to the device with a run of steps."""
    _check_names(options, _OF_QUEUES, where)


def _check_names(options: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for name in options:
        if name not in known:
            raise TypeError(f"{where} got an unexpected keyword argument {name!r}; it takes {', '.join(known)}")
