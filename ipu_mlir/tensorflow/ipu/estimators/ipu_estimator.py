"""Estimators (guide 21.13.1)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.estimators.base import Estimator
from ipu_mlir.tensorflow.ipu.estimators.programs import Told, call_on
from ipu_mlir.tensorflow.ipu.estimators.settings import EVALUATE, PREDICT, TRAIN, call_with
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedQueue
from ipu_mlir.tensorflow.ipu.loops import repeat
from ipu_mlir.tensorflow.ipu.scopes import outside_compilation_scope

__all__ = ["IPUEstimator", "IPUEstimatorSpec"]

_NEEDED = {TRAIN: ("loss", "train_op"), EVALUATE: ("loss",), PREDICT: ("predictions",)}


class _Spec(NamedTuple):
    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Mapping[str, Any] | None = None
    eval_metrics: tuple[Callable[..., Any], Any] | None = None
    host_call: tuple[Callable[..., Any], Any] | None = None
    training_hooks: Sequence[Any] | None = None
    evaluation_hooks: Sequence[Any] | None = None
    prediction_hooks: Sequence[Any] | None = None


class IPUEstimatorSpec(_Spec):
    """What a model function gives.

    Attributes:
        mode: the one that the function was asked for.
        predictions: a tensor, or several by name.
        loss: a scalar.
        train_op: an operation that does one step.
        eval_metric_ops: by name, pairs of a metric and its update, which the device does.
        eval_metrics: a function that makes such pairs on the host, and the tensors that it takes, in a list, or a dict.
        host_call: a function that the host calls after each step of a training, and the tensors that it takes.
        training_hooks, evaluation_hooks, prediction_hooks: of the sessions.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        eval_metrics: tuple[Callable[..., Any], Any] | None = None,
        host_call: tuple[Callable[..., Any], Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> "IPUEstimatorSpec":
        """Check and keep them.

        Raises:
            ValueError: the mode is unknown, needs something that is not there, or a pair is none.
        """
        if mode not in _NEEDED:
            raise ValueError(f"mode is {mode!r}; expected one of {', '.join(map(repr, _NEEDED))}")
        given = {"predictions": predictions, "loss": loss, "train_op": train_op}
        for name in _NEEDED[mode]:
            if given[name] is None:
                raise ValueError(f"the mode {mode!r} needs {name}, and the model function gives none")
        for name, pair in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if pair is not None and not (isinstance(pair, tuple) and len(pair) == 2 and callable(pair[0])):
                raise ValueError(f"{name} must be a tuple of a function and its tensors, got {pair!r}")
        if eval_metrics is not None and eval_metric_ops is not None:
            raise ValueError("give eval_metrics, which the host makes, or eval_metric_ops, which the device makes")
        hooks = (training_hooks, evaluation_hooks, prediction_hooks)
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metric_ops, eval_metrics, host_call, *hooks)


class IPUEstimator(Estimator):
    """Trains, evaluates and predicts in loops on the device.

    ``model_fn(features, labels, mode, params, config)`` gives an ``IPUEstimatorSpec``; it need not take all of them. An
    element of the dataset is ``(features, labels)``, or features, or a dict with these two names.

    Args:
        model_dir: where checkpoints are; that of ``config``, or else a new folder.
        config: a ``RunConfig``.
        params: for the functions of the model.
        warm_start_from: a checkpoint that variables begin with.
        train_batch_size, eval_batch_size, predict_batch_size: of all replicas together; functions get that of one as
            ``params["batch_size"]``.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: str | None = None,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
    ) -> None:
        sizes = {TRAIN: train_batch_size, EVALUATE: eval_batch_size, PREDICT: predict_batch_size}
        super().__init__(model_fn, model_dir, config, params, warm_start_from, sizes)

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model function with its ``params``."""

        def bound(features: Any, labels: Any, mode: str, config: Any = None) -> Any:
            return self._spec(mode, features, labels)

        return bound

    def _spec(self, mode: str, features: Any, labels: Any) -> IPUEstimatorSpec:
        known = {"features": features, "labels": labels, **self._known(mode)}
        spec = call_with(self._function, known, needed=("features",))
        if not isinstance(spec, IPUEstimatorSpec):
            raise TypeError(f"the model function must give an IPUEstimatorSpec, got {type(spec).__name__}")
        return spec

    def _outputs(self, mode: str, features: Any, labels: Any) -> Any:
        spec = self._spec(mode, features, labels)
        return spec.predictions if mode == PREDICT else {"loss": spec.loss}

    def _parts(self, passed: Any) -> tuple[Any, Mapping[str, Any], Any]:
        return passed["loss"], passed.get("updates", {}), passed.get("metrics")

    def _trace(self, mode: str, iterations: Any, infeed: IPUInfeedQueue, outfeed: IPUOutfeedQueue, told: Told) -> Any:
        def body(*by_place: Any, **by_name: Any) -> Any:
            spec = self._spec(mode, *_features_and_labels(by_place, by_name))
            told.hooks = list(getattr(spec, _HOOKS[mode]) or ())
            if mode == PREDICT:
                return outfeed.enqueue(spec.predictions)
            if mode == EVALUATE:
                return outfeed.enqueue(_evaluated(spec, told))
            with tf.control_dependencies([spec.train_op]):
                passed = outfeed.enqueue(spec.loss)
                if spec.host_call is not None:
                    function, tensors = spec.host_call
                    with outside_compilation_scope():
                        call_on(function, tensors)
            return passed

        return repeat(iterations, body, infeed_queue=infeed)


_HOOKS = {TRAIN: "training_hooks", EVALUATE: "evaluation_hooks", PREDICT: "prediction_hooks"}


def _evaluated(spec: IPUEstimatorSpec, told: Told) -> dict[str, Any]:
    """What the device passes in each step of an evaluation."""
    passed: dict[str, Any] = {"loss": spec.loss}
    if spec.eval_metrics is not None:
        told.metrics, tensors = spec.eval_metrics
        passed["metrics"] = tensors
    if spec.eval_metric_ops is not None:
        passed["updates"] = {name: update for name, (_, update) in spec.eval_metric_ops.items()}
    return passed


def _features_and_labels(by_place: Sequence[Any], by_name: dict[str, Any]) -> tuple[Any, Any]:
    """Those of an element of the dataset."""
    if by_name:
        is_named = "features" in by_name and by_name.keys() <= {"features", "labels"}
        return (by_name["features"], by_name.get("labels")) if is_named else (by_name, None)
    if len(by_place) > 2:
        raise ValueError(f"elements have {len(by_place)} parts; expected features, or features and labels")
    return by_place[0], by_place[1] if len(by_place) == 2 else None
