"""Estimators over pipelines (guide 21.13.2)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ipu_mlir.tensorflow.ipu.estimators.base import Estimator
from ipu_mlir.tensorflow.ipu.estimators.programs import Told
from ipu_mlir.tensorflow.ipu.estimators.settings import EVALUATE, PREDICT, TRAIN, call_with
from ipu_mlir.tensorflow.ipu.gradient_accumulation import GradientAccumulationReductionMethod
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedQueue
from ipu_mlir.tensorflow.ipu.pipelining_ops import pipeline
from ipu_mlir.tensorflow.pipelines.stages import arguments

__all__ = ["IPUPipelineEstimator", "IPUPipelineEstimatorSpec"]

_NEEDED = {TRAIN: ("optimizer_function",), EVALUATE: ("eval_metrics_fn",), PREDICT: ()}
_GIVEN = ("inputs", "infeed_queue", "outfeed_queue", "repeat_count", "outfeed_loss")
"""Arguments of a pipeline that the estimator has itself."""


class IPUPipelineEstimatorSpec:
    """What the model function of a pipeline gives.

    Attributes:
        mode: the one that the function was asked for.
        computational_stages: functions of tensors; the last one gives the loss, predictions, or what metrics are made
            of.
        gradient_accumulation_count: mini-batches of an update, of which steps are a multiple.
        eval_metrics_fn: takes what the last stage gives, on the host; gives pairs of a metric and its update.
        optimizer_function: takes what the last stage gives, and says how the pipeline is trained.
        device_mapping: the IPU of each stage.
        loss_accumulator_dtype: the type of the sum of the losses of an update, where that is what is logged.
        training_hooks, evaluation_hooks, prediction_hooks: of the sessions.
        reduction_method: what an update is made of.
        pipeline_op_kwargs: other arguments of ``pipelining_ops.pipeline``.
    """

    def __init__(
        self,
        mode: str,
        computational_stages: Sequence[Any],
        gradient_accumulation_count: int | None = None,
        eval_metrics_fn: Callable[..., Mapping[str, Any]] | None = None,
        optimizer_function: Callable[..., Any] | None = None,
        device_mapping: Sequence[Any] | None = None,
        loss_accumulator_dtype: Any = None,
        training_hooks: Sequence[Any] | None = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
        reduction_method: Any = GradientAccumulationReductionMethod.SUM,
        **pipeline_op_kwargs: Any,
    ) -> None:
        """Check and keep them.

        Raises:
            ValueError: the mode is unknown, or needs something that is not there; an argument is the estimator's own.
        """
        if mode not in _NEEDED:
            raise ValueError(f"mode is {mode!r}; expected one of {', '.join(map(repr, _NEEDED))}")
        given = {"optimizer_function": optimizer_function, "eval_metrics_fn": eval_metrics_fn}
        for name in _NEEDED[mode]:
            if given[name] is None:
                raise ValueError(f"the mode {mode!r} needs {name}, and the model function gives none")
        if gradient_accumulation_count is None or gradient_accumulation_count <= 0:
            raise ValueError(f"gradient_accumulation_count must be above 0, got {gradient_accumulation_count}")
        if own := [each for each in _GIVEN if each in pipeline_op_kwargs]:
            raise ValueError(f"{own[0]} is what the estimator itself gives its pipelines")
        self.mode, self.computational_stages = mode, list(computational_stages)
        self.gradient_accumulation_count = gradient_accumulation_count
        self.eval_metrics_fn, self.optimizer_function = eval_metrics_fn, optimizer_function
        self.device_mapping, self.loss_accumulator_dtype = device_mapping, loss_accumulator_dtype
        self.training_hooks, self.evaluation_hooks = training_hooks, evaluation_hooks
        self.prediction_hooks, self.reduction_method = prediction_hooks, reduction_method
        self.pipeline_op_kwargs = pipeline_op_kwargs


class IPUPipelineEstimator(Estimator):
    """Trains, evaluates and predicts in pipelines of stages on several IPUs.

    ``model_fn(mode, params, config)`` gives an ``IPUPipelineEstimatorSpec``; it need not take all of them. Steps are
    mini-batches: those of a loop, and of a call, are a multiple of ``gradient_accumulation_count``.

    Args:
        model_dir: where checkpoints are; that of ``config``, or else a new folder.
        config: a ``RunConfig``.
        params: for the functions of the model.
        warm_start_from: a checkpoint that variables begin with.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: str | None = None,
    ) -> None:
        super().__init__(model_fn, model_dir, config, params, warm_start_from)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function with its ``params``."""

        def bound(mode: str, config: Any = None) -> Any:
            return self._spec(mode)

        return bound

    def _spec(self, mode: str) -> IPUPipelineEstimatorSpec:
        spec = call_with(self._function, self._known(mode), needed=("mode",))
        if not isinstance(spec, IPUPipelineEstimatorSpec):
            raise TypeError(f"the model function must give an IPUPipelineEstimatorSpec, got {type(spec).__name__}")
        return spec

    def _grain(self, mode: str) -> int:
        return self._spec(mode).gradient_accumulation_count

    def _outputs(self, mode: str, features: Any, labels: Any) -> Any:
        given = features if labels is None else (features, labels)
        for stage in self._spec(mode).computational_stages:
            by_place, by_name = arguments(given)
            given = stage(*by_place, **by_name)
        if not isinstance(given, list | tuple):
            return given
        by_place = list(given)
        return by_place[0] if len(by_place) == 1 else {f"output_{n}": each for n, each in enumerate(by_place)}

    def _parts(self, passed: Any) -> tuple[Any, Mapping[str, Any], Any]:
        return (), {}, passed

    def _trace(self, mode: str, iterations: Any, infeed: IPUInfeedQueue, outfeed: IPUOutfeedQueue, told: Told) -> Any:
        spec = self._spec(mode)
        options = dict(spec.pipeline_op_kwargs)
        if mode == TRAIN:
            told.hooks = list(spec.training_hooks or ())
            options |= {"optimizer_function": spec.optimizer_function, "outfeed_loss": True}
            if spec.loss_accumulator_dtype is not None:
                options |= {"accumulate_outfeed": True, "accumulate_outfeed_dtype": spec.loss_accumulator_dtype}
        else:
            told.hooks = list((spec.evaluation_hooks if mode == EVALUATE else spec.prediction_hooks) or ())
        told.metrics = spec.eval_metrics_fn if mode == EVALUATE else None
        count = spec.gradient_accumulation_count
        return pipeline(
            spec.computational_stages,
            gradient_accumulation_count=count,
            repeat_count=iterations // count,
            infeed_queue=infeed,
            outfeed_queue=outfeed,
            device_mapping=spec.device_mapping,
            reduction_method=spec.reduction_method,
            **options,
        )
