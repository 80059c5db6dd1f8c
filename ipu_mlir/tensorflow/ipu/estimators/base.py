"""What estimators of a model function and of a pipeline have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Self

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow.ipu.estimators.exporting import export_models
from ipu_mlir.tensorflow.ipu.estimators.programs import (
    HostMetrics,
    Loop,
    LossHook,
    StartHook,
    Told,
    elements_for,
    infeed_of,
    replicas_of,
)
from ipu_mlir.tensorflow.ipu.estimators.settings import (
    EVALUATE,
    PREDICT,
    TRAIN,
    call_with,
    configure,
    local_batch,
    rounds,
    run_config,
)
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedQueue

tf1 = tf.compat.v1


class Estimator(ABC):
    """Trains, evaluates and asks a model in loops on the device; what it learns is in checkpoints of its folder."""

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Mapping[str, Any] | None = None,
        warm_start_from: str | None = None,
        batch_sizes: Mapping[str, int | None] | None = None,
    ) -> None:
        self._config, self._run = run_config(config)
        if None not in (model_dir, self._config.model_dir) and str(model_dir) != str(self._config.model_dir):
            raise ValueError(f"model_dir is {model_dir}, and that of config is {self._config.model_dir}; give one")
        self._folder = str(model_dir or self._config.model_dir or mkdtemp())
        self._function, self._params, self._warm_start = model_fn, dict(params or {}), warm_start_from
        self._batch_sizes = dict(batch_sizes or {})
        for mode in (TRAIN, EVALUATE, PREDICT):
            self._params_of(mode)

    @property
    def model_dir(self) -> str:
        """The folder of the checkpoints."""
        return self._folder

    @property
    def config(self) -> Any:
        """The options."""
        return self._config

    @property
    def params(self) -> dict[str, Any]:
        """What the functions of the model get as ``params``."""
        return dict(self._params)

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Self:
        """Train from the newest checkpoint on, and write others.

        Args:
            input_fn: gives a dataset; may take ``mode``, ``params`` and ``config``.
            hooks: of the session, in which each run is a loop of ``iterations_per_loop`` steps.
            steps: how many more; until the dataset ends, if neither these nor ``max_steps`` are given.
            max_steps: how many since the beginning.
            saving_listeners: are told of checkpoints.

        Raises:
            ValueError: both are given, or one is not above 0.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("give steps or max_steps, not both")
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError(f"{name} must be above 0, got {value}")
        if max_steps is not None:
            steps = max_steps - self._steps_so_far()
            if steps <= 0:
                tf.get_logger().info("training has already done %d steps", self._steps_so_far())
                return self
        with self._graph(TRAIN):
            loop, loops = self._loop(TRAIN, input_fn, steps)
            if self._warm_start is not None and self.latest_checkpoint() is None:
                tf1.train.warm_start(self._warm_start)
            scaffold = tf1.train.Scaffold(saver=self._saver())
            more = [LossHook(loop, self._config.log_step_count_steps), *self._saving(scaffold, saving_listeners)]
            with tf1.train.MonitoredTrainingSession(
                checkpoint_dir=self._folder,
                scaffold=scaffold,
                hooks=[StartHook(loop), *more, *loop.told.hooks, *(hooks or ())],
                save_checkpoint_secs=None,
                save_checkpoint_steps=None,
                save_summaries_steps=None,
                save_summaries_secs=None,
                log_step_count_steps=None,
                config=self._config.session_config,
            ) as session:
                for iterations in loops:
                    if session.should_stop():
                        break
                    loop.run(session, iterations)
        return self

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Metrics of the model, and the ``global_step``, for ``steps`` elements of a dataset, or all of it.

        They are written as a summary to ``eval_dir(name)`` as well.

        Raises:
            ValueError: ``steps`` is not above 0, or not given and the dataset does not end.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"steps must be above 0, got {steps}")
        with self._graph(EVALUATE):
            loop, loops = self._loop(EVALUATE, input_fn, steps, must_end=True)
            function = loop.told.metrics
            metrics = None if function is None else HostMetrics(function, self._parts(loop.form)[2])
            losses: list[float] = []
            found: dict[str, Any] = {}
            with self._session(loop, checkpoint_path, hooks) as session:
                for iterations in loops:
                    loop.run(session, iterations)
                    passed, updates, rows = self._parts(loop.read())
                    losses += list(map(float, passed))
                    found.update({each: values[-1] for each, values in updates.items()})
                    if metrics is not None:
                        metrics.update(session, rows)
                if losses:
                    found["loss"] = np.float32(np.mean(losses))
                if metrics is not None:
                    found.update(metrics.values(session))
                found["global_step"] = int(session.run(loop.step))
            self._write_summary(found, name)
        return found

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
        num_predictions: int | None = None,
    ) -> Iterator[Any]:
        """Predictions for the elements of a dataset, one after the other.

        Args:
            predict_keys: which of several predictions, by name.
            yield_single_examples: False for those of whole batches.
            num_predictions: how many examples; without it, the dataset is read to its end, which is an error where
                nobody knows the end before.

        Raises:
            ValueError: a name of ``predict_keys`` is none.
        """
        with self._graph(PREDICT) as graph:
            infeed = self._infeed(PREDICT, input_fn)
            steps = None
            if num_predictions is not None:
                first = tf.nest.flatten(infeed._feed.element_spec)[0]
                steps = -(-num_predictions // (first.shape[0] * replicas_of(self._run)))
            loop, loops = self._loop_of(PREDICT, infeed, steps)
            names = None if predict_keys is None else tf.nest.flatten(predict_keys)
            if names is not None and not (isinstance(loop.form, Mapping) and set(names) <= loop.form.keys()):
                known = ", ".join(loop.form) if isinstance(loop.form, Mapping) else "none, a tensor"
                raise ValueError(f"predict_keys names {', '.join(names)}; the predictions are {known}")
            session = self._session(loop, checkpoint_path, hooks)
        left = num_predictions
        with session:
            for iterations in loops:
                with graph.as_default():
                    loop.run(session, iterations)
                    rows = loop.read()
                rows = rows[0] if isinstance(rows, list) and len(rows) == 1 else rows
                rows = rows if names is None else {each: rows[each] for each in names}
                for row in _rows(rows):
                    if not yield_single_examples:
                        yield row
                        continue
                    for example in _rows(row):
                        if left is not None and left <= 0:
                            return
                        left = None if left is None else left - 1
                        yield example

    def eval_dir(self, name: str | None = None) -> str:
        """The folder for metrics of an evaluation."""
        return str(Path(self._folder) / (f"eval_{name}" if name else "eval"))

    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint, or None."""
        return tf.train.latest_checkpoint(self._folder)

    def get_variable_names(self) -> list[str]:
        """The names of all variables of the newest checkpoint.

        Raises:
            ValueError: there is none.
        """
        return [name for name, _ in tf.train.list_variables(self._checkpoint())]

    def get_variable_value(self, name: str) -> np.ndarray:
        """The value of a variable in the newest checkpoint.

        Raises:
            ValueError: there is none.
        """
        return tf.train.load_variable(self._checkpoint(), name)

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = PREDICT,
    ) -> bytes:
        """Write the graph of a mode as a model that TensorFlow runs anywhere, and give the path of its folder.

        Raises:
            ValueError: there is no receiver function, no output, or no checkpoint.
        """
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self.experimental_export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path
        )

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The former name of ``export_saved_model``; ``strip_default_attrs`` is without effect."""
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Write the graphs of several modes as one model, and give the path of its folder.

        Raises:
            ValueError: a receiver function is None, a mode has no output, or there is no checkpoint.
        """
        checkpoint = checkpoint_path or self.latest_checkpoint()
        return export_models(export_dir_base, input_receiver_fn_map, self._outputs, checkpoint, assets_extra, as_text)

    @abstractmethod
    def _trace(self, mode: str, iterations: Any, infeed: IPUInfeedQueue, outfeed: IPUOutfeedQueue, told: Told) -> Any:
        """Trace a loop of the model; what goes to ``outfeed`` is as ``evaluate`` and ``predict`` read it."""

    @abstractmethod
    def _parts(self, passed: Any) -> tuple[Any, Mapping[str, Any], Any]:
        """Of what a loop of an evaluation passes: losses, metrics of the device, and what the host makes metrics of."""

    @abstractmethod
    def _outputs(self, mode: str, features: Any, labels: Any) -> Any:
        """The tensors that the model gives in a mode, on the host."""

    def _grain(self, mode: str) -> int:
        """Of how many mini-batches the steps of a loop are a multiple."""
        return 1

    def _params_of(self, mode: str) -> dict[str, Any]:
        return local_batch(self._params, self._batch_sizes.get(mode), self._run.num_replicas)

    def _known(self, mode: str) -> dict[str, Any]:
        return {"mode": mode, "params": self._params_of(mode), "config": self._config}

    def _graph(self, mode: str) -> Any:
        """A new graph for a mode, with the system as the options say."""
        configure(self._run)
        return _seeded(self._config.tf_random_seed)

    def _infeed(self, mode: str, input_fn: Callable[..., Any]) -> IPUInfeedQueue:
        with tf.device("/cpu:0"):
            return infeed_of(call_with(input_fn, self._known(mode)), self._run)

    def _loop(
        self, mode: str, input_fn: Callable[..., Any], steps: int | None, must_end: bool = False
    ) -> tuple[Loop, Any]:
        return self._loop_of(mode, self._infeed(mode, input_fn), steps, must_end)

    def _loop_of(
        self, mode: str, infeed: IPUInfeedQueue, steps: int | None, must_end: bool = False
    ) -> tuple[Loop, Any]:
        """The loop of a mode, and the iterations of each of its runs."""
        of_loop = self._run.iterations_per_loop
        steps = elements_for(infeed, replicas_of(self._run)) if steps is None else steps
        if steps is None and must_end:
            raise ValueError("the dataset does not end, or nobody knows where: say how many steps")
        grain = self._grain(mode)
        for name, number in (("steps", steps), ("iterations_per_loop", of_loop)):
            if number is not None and number % grain:
                raise ValueError(
                    f"{name} is {number}, and no multiple of gradient_accumulation_count, which is {grain}: a pipeline "
                    "takes whole updates"
                )
        of_loop = of_loop if steps is None else min(of_loop, steps)
        loops = repeat(of_loop) if steps is None else rounds(steps, of_loop)
        fixed = of_loop if steps is None or steps % of_loop == 0 else None

        def trace(iterations: Any, infeed: Any, outfeed: Any, told: Told) -> Any:
            return self._trace(mode, iterations, infeed, outfeed, told)

        return Loop(trace, infeed, self._run, fixed, advances=mode == TRAIN), loops

    def _session(self, loop: Loop, checkpoint: str | None, hooks: Sequence[Any] | None) -> Any:
        """A session with the values of a checkpoint; with new ones where there is none."""
        path = checkpoint or self.latest_checkpoint()
        if path is None:
            tf.get_logger().info("there is no checkpoint in %s: variables begin as they are initialised", self._folder)
        creator = tf1.train.ChiefSessionCreator(
            scaffold=tf1.train.Scaffold(saver=self._saver()),
            config=self._config.session_config,
            checkpoint_filename_with_path=path,
        )
        return tf1.train.MonitoredSession(creator, hooks=[StartHook(loop), *loop.told.hooks, *(hooks or ())])

    def _saver(self) -> Any:
        hours = self._config.keep_checkpoint_every_n_hours
        return tf1.train.Saver(max_to_keep=self._config.keep_checkpoint_max, keep_checkpoint_every_n_hours=hours)

    def _saving(self, scaffold: Any, listeners: Sequence[Any] | None) -> list[Any]:
        seconds, steps = self._config.save_checkpoints_secs, self._config.save_checkpoints_steps
        if not (seconds or steps):
            return []
        return [tf1.train.CheckpointSaverHook(self._folder, seconds, steps, scaffold=scaffold, listeners=listeners)]

    def _steps_so_far(self) -> int:
        path = self.latest_checkpoint()
        return 0 if path is None else int(tf.train.load_variable(path, "global_step"))

    def _checkpoint(self) -> str:
        path = self.latest_checkpoint()
        if path is None:
            raise ValueError(f"there is no checkpoint in {self._folder}; train first")
        return path

    def _write_summary(self, metrics: Mapping[str, Any], name: str | None) -> None:
        summary = tf1.Summary()
        for each, value in metrics.items():
            if each != "global_step" and np.size(value) == 1:
                summary.value.add(tag=each, simple_value=float(np.ravel(value)[0]))
        with tf1.summary.FileWriter(self.eval_dir(name)) as writer:
            writer.add_summary(summary, metrics["global_step"])


def _rows(rows: Any) -> Iterator[Any]:
    """Each row of nested arrays, nested in the same way."""
    flat = tf.nest.flatten(rows)
    return (tf.nest.pack_sequence_as(rows, [each[place] for each in flat]) for place in range(len(flat[0])))


@contextmanager
def _seeded(seed: int | None) -> Iterator[tf.Graph]:
    """A new graph, whose random numbers follow from ``seed``."""
    with tf.Graph().as_default() as graph:
        tf1.set_random_seed(seed)
        yield graph
