"""Methods of models that are made in the scope of an ``IPUStrategy``: stages and options (guide, chapter 19)."""

import functools
import logging
from collections.abc import Callable
from typing import Any

import keras

from ipu_mlir.tensorflow.keras.assignments import SequentialLayerPipelineStageAssignment, summary
from ipu_mlir.tensorflow.keras.graph import assignments_of, check_assignments
from ipu_mlir.tensorflow.keras.options import METRIC_REDUCTIONS, check_queue_options, options_of

_LOG = logging.getLogger("ipu_mlir.tensorflow")


def extend_models(strategy: type) -> None:
    """Give models of Keras the methods below, which ask for a ``strategy``."""
    for method in (
        set_gradient_accumulation_options,
        set_pipelining_options,
        set_asynchronous_callbacks,
        set_infeed_queue_options,
        set_outfeed_queue_options,
        set_replication_options,
        get_pipeline_stage_assignment,
        set_pipeline_stage_assignment,
        reset_pipeline_stage_assignment,
        print_pipeline_stage_assignment_summary,
    ):
        setattr(keras.Model, method.__name__, _of_models(method, strategy))


def _of_models(method: Callable[..., Any], strategy: type) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(model: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(model._distribute_strategy, strategy):
            raise RuntimeError(
                f"{method.__name__} is for models of an IPUStrategy, and {model.name!r} was made outside of its scope; "
                "make it inside of strategy.scope()"
            )
        return method(model, *args, **kwargs)

    return call


def set_gradient_accumulation_options(
    model: Any,
    gradient_accumulation_steps_per_replica: int | None = None,
    gradient_accumulation_reduction_method: Any = "sum",
    use_v2_gradient_accumulation_optimizer: bool = False,
    **gradient_accumulation_optimizer_kwargs: Any,
) -> None:
    """Let ``fit`` change the weights once for several steps, if the model is no pipeline.

    Args:
        gradient_accumulation_steps_per_replica: steps of an update; ``steps_per_execution`` is a multiple of it.
        gradient_accumulation_reduction_method: what an update is made of: sum, mean or running_mean.
        use_v2_gradient_accumulation_optimizer: without effect.
        gradient_accumulation_optimizer_kwargs: ``dtype``, ``offload_weight_update_variables`` and
            ``replicated_optimizer_state_sharding``, as of ``GradientAccumulationOptimizerV2``.

    Raises:
        TypeError, ValueError: an argument is none of those.
    """
    own = options_of(model)
    found = own.accumulation.with_steps(gradient_accumulation_steps_per_replica, gradient_accumulation_reduction_method)
    own.accumulation = found.with_wrapper(gradient_accumulation_optimizer_kwargs)
    _begin_anew(model)


def set_pipelining_options(
    model: Any,
    gradient_accumulation_steps_per_replica: int | None = None,
    device_mapping: list[int] | None = None,
    accumulate_outfeed: bool | None = None,
    gradient_accumulation_reduction_method: Any = "sum",
    **pipelining_kwargs: Any,
) -> None:
    """Say how the stages of a model run.

    Args:
        gradient_accumulation_steps_per_replica: steps of an update; ``steps_per_execution`` is a multiple of it.
        device_mapping: the IPU of each stage.
        accumulate_outfeed: without effect: one row of metrics comes back for all steps of an execution.
        gradient_accumulation_reduction_method: what an update is made of: sum, mean or running_mean.
        pipelining_kwargs: as of ``pipelining_ops.pipeline``.

    Raises:
        TypeError, ValueError: an argument is none of those.
    """
    own = options_of(model)
    found = own.pipelining.with_steps(gradient_accumulation_steps_per_replica, gradient_accumulation_reduction_method)
    own.pipelining = found.with_devices(device_mapping).with_pipeline(pipelining_kwargs)
    _begin_anew(model)


def set_asynchronous_callbacks(model: Any, asynchronous: bool = False) -> None:
    """Say that callbacks run while the device computes; without effect, which the log says."""
    if asynchronous:
        _LOG.warning("set_asynchronous_callbacks has no effect: callbacks run after the steps of an execution")


def set_infeed_queue_options(model: Any, **kwargs: Any) -> None:
    """Take options of the queues to the device; without effect: batches go there with the steps of an execution.

    Raises:
        TypeError: there is no such option.
    """
    check_queue_options(kwargs, "set_infeed_queue_options")


def set_outfeed_queue_options(model: Any, **kwargs: Any) -> None:
    """Take options of the queues from the device; without effect.

    Raises:
        TypeError: there is no such option.
    """
    check_queue_options(kwargs, "set_outfeed_queue_options")


def set_replication_options(model: Any, replicated_metric_reduction_method: str = "NONE") -> None:
    """Say how callbacks see the metrics of several replicas.

    Args:
        replicated_metric_reduction_method: ``NONE`` for those of the first replica, ``LIST`` for a list of those of
            all, ``SUM`` or ``MEAN``.

    Raises:
        ValueError: it is none of those.
    """
    given = replicated_metric_reduction_method
    word = str(getattr(given, "name", given)).upper()
    if word not in METRIC_REDUCTIONS:
        raise ValueError(
            f"Cannot parse {given!r} as one of ReplicatedMetricReductionMethod: {', '.join(METRIC_REDUCTIONS)}"
        )
    options_of(model).metric_reduction = word
    _begin_anew(model)


def get_pipeline_stage_assignment(model: Any) -> list[Any]:
    """An assignment for each layer of a ``Sequential`` model, or for each call of a layer of another one, in order.

    Raises:
        RuntimeError: the model is a subclass that is not built.
    """
    return assignments_of(model)


def set_pipeline_stage_assignment(model: Any, pipeline_stage_assignment: Any) -> None:
    """Let the calls of layers run in stages of a pipeline.

    Args:
        pipeline_stage_assignment: as ``get_pipeline_stage_assignment`` gives them, with stages; of a ``Sequential``
            model, numbers of stages as well.

    Raises:
        ValueError: they are not those of the model, or make no pipeline.
        RuntimeError: the model is a subclass that is not built.
    """
    given = pipeline_stage_assignment
    if isinstance(model, keras.Sequential) and isinstance(given, list) and all(type(each) is int for each in given):
        layers = [*model.layers, *[None] * (len(given) - len(model.layers))]
        given = [
            SequentialLayerPipelineStageAssignment(layer, stage) for layer, stage in zip(layers, given, strict=False)
        ]
    check_assignments(model, given)
    options_of(model).stages = list(given)
    _begin_anew(model)


def reset_pipeline_stage_assignment(model: Any) -> None:
    """Let the model run as a whole again."""
    options_of(model).stages = []
    _begin_anew(model)


def print_pipeline_stage_assignment_summary(
    model: Any, line_length: int | None = None, print_fn: Callable[[str], Any] | None = None
) -> None:
    """Print a table of layers and their stages, by ``print_fn`` line by line."""
    lines = summary(assignments_of(model), line_length or 89)
    lines[:0] = [f'Model: "{model.name}"']
    for line in lines:
        (print_fn or print)(line)


def _begin_anew(model: Any) -> None:
    """Let steps be compiled again."""
    model.train_function = model.test_function = model.predict_function = None
