"""Steps of a model as programs of the device, as many at a time as ``steps_per_execution`` says."""

import warnings
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.tensorflow.collectives import all_gather, all_reduce, replica_index
from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.keras.accumulation import accumulated
from ipu_mlir.tensorflow.keras.host_batches import Batches, first, in_groups, take
from ipu_mlir.tensorflow.keras.interrupts import interrupted_afterwards
from ipu_mlir.tensorflow.keras.loops import at, form_of, zeros
from ipu_mlir.tensorflow.keras.options import Accumulation, options_of
from ipu_mlir.tensorflow.program import Programs

FUNCTIONS = {"train": "train_step", "test": "test_step", "predict": "predict_step"}


class StepFunction:
    """Steps of a model that give logs."""

    kind_of_model = ""

    def __init__(self, model: Any, kind: str) -> None:
        """Take a model, and its steps that are meant: train, test or predict."""
        self._model, self._kind = model, kind
        self._programs = Programs()
        self._given = getattr(model, FUNCTIONS[kind])
        self.name = f"{FUNCTIONS[kind]} of model {model.name!r}"
        self._options = self._accumulation() if kind == "train" else Accumulation()
        self._fed_by: int | None = None  # the iterator that gave the last batches

    def __call__(self, iterator: Any) -> Any:
        """The logs after the last of the steps.

        Raises:
            StopIteration: there is no batch.
            ValueError: there are not enough for one update.
            RuntimeError: the steps of an execution are no whole updates.
        """
        taken = take(iterator, self._most())
        batches = in_groups(taken, (self._options.batches, self._replicas))
        if taken and not batches and self._fed_by != id(iterator):
            self._refuse_few(sum(each.count for each in taken))
        left = sum(each.count for each in taken) - sum(each.count for each in batches) * self._at_once
        if left:
            warnings.warn(
                f"{self.name} leaves out the last {counted(left, 'batch', 'batches')}: it takes {self._needed()} of "
                "one size at once; give it data, or batches, of a size that divides",
                stacklevel=2,
            )
        if not batches:
            raise StopIteration
        self._fed_by = id(iterator)
        logs = None
        for each in batches:
            logs = self._run(each)
        return logs

    def _refuse_few(self, batches: int) -> None:
        given = f"{counted(batches, 'batch', 'batches')}{', the last one smaller' * (batches >= self._at_once)}"
        raise ValueError(
            f"{self.name} is given {given}, and takes {self._needed()} at once; give it more data, smaller batches, or "
            "less gradient accumulation"
        )

    @property
    def _at_once(self) -> int:
        """The batches of one step of all replicas."""
        return self._options.batches * self._replicas

    def _needed(self) -> str:
        own, replicas = self._options.batches, self._replicas
        on_each = [f"{replicas} replicas"] if replicas > 1 else []
        return " on each of ".join([counted(own, "batch", "batches"), *on_each])

    def _accumulation(self) -> Accumulation:
        return options_of(self._model).accumulation

    def _most(self) -> int:
        """The batches that an execution takes."""
        steps, own = self._model.steps_per_execution, self._options
        if own.counts_updates:
            return steps * own.batches * self._replicas
        if steps % own.batches:
            raise RuntimeError(
                f"The {self.kind_of_model}model has been configured to use gradient accumulation for training, however "
                f"the current `steps_per_execution` value (set to {steps}) is not divisible by "
                f"`gradient_accumulation_steps_per_replica` ({own.batches}). You need to adjust either "
                "`steps_per_execution` or `gradient_accumulation_steps_per_replica` to make sure that "
                "`steps_per_execution` is divisible by `gradient_accumulation_steps_per_replica`."
            )
        return steps * self._replicas

    @property
    def _replicas(self) -> int:
        return self._model._distribute_strategy.num_replicas_in_sync

    def _step(self, batches: Any) -> Any:
        """The logs of a step, on the batches of an update."""
        if self._options.batches == 1:
            return self._own_step(batches)
        return accumulated(self._model, self._options, self._own_step, batches, self.name)

    def _own_step(self, batch: Any) -> Any:
        """A step of this replica, on the batch that is its own."""
        return self._given(self._own(batch))

    def _own(self, batch: Any, axis: int = 0) -> Any:
        """The part of this replica of batches that have replicas along an axis, if there are several."""
        if self._replicas == 1:
            return batch
        number = replica_index()
        return tf.nest.map_structure(
            lambda each: tf.gather(each, number, axis=axis) if tf.is_tensor(each) else each, batch
        )

    def _run(self, batches: Batches) -> Any:
        several = (self._several, [batches.count, batches.nested])
        return self._call(*several) if batches.count > 1 else self._call(self._one, [first(batches)])

    def _call(self, function: Callable[..., Any], given: list[Any]) -> Any:
        """Run a function of this object on the device."""
        strategy = self._model._distribute_strategy
        with strategy.scope(), ops_on_host(), interrupted_afterwards():
            found = self._programs.call(function, given, {}, strategy.device, strategy.trace, self.name)
        return self._listed(found)

    def _one(self, batch: Any) -> Any:
        return self._reduced(self._step(batch))

    def _several(self, count: int, batches: Any) -> Any:
        """The logs of the last of ``count`` steps, in a loop."""

        def body(number: Any, _: Any) -> Any:
            return number + 1, self._step(at(batches, number))

        logs = zeros(form_of(self._step, at(batches, 0)))
        return self._reduced(tf.while_loop(lambda number, _: number < count, body, (tf.constant(0), logs))[1])

    def _reduced(self, logs: Any) -> Any:
        """Logs of all replicas, as the model wants them; those of the first replica otherwise."""
        method = options_of(self._model).metric_reduction
        if self._replicas == 1 or method == "NONE" or self._kind == "predict":
            return logs
        if method == "LIST":
            return tf.nest.map_structure(lambda each: all_gather(each, self._replicas), logs)
        return tf.nest.map_structure(lambda each: all_reduce(each, {"SUM": "add", "MEAN": "mean"}[method]), logs)

    def _listed(self, found: Any) -> Any:
        """Logs with a list for each metric, if the model wants those of all replicas."""
        wanted = options_of(self._model).metric_reduction == "LIST" and self._kind != "predict"
        return {name: each.numpy().tolist() for name, each in found.items()} if wanted and self._replicas > 1 else found


class PredictFunction(StepFunction):
    """Predictions of a model on the device; every replica makes all of them."""

    @property
    def _replicas(self) -> int:
        return 1

    def __call__(self, batches: Any) -> Any:
        """What the model gives for the batches, one after another."""
        found = [self._predicted(each) for each in take(batches, len(batches))]
        return tf.nest.map_structure(lambda *each: each[0] if len(each) == 1 else tf.concat(each, 0), *found)

    def _predicted(self, batches: Batches) -> Any:
        result = self._run(batches)
        return merged(result) if batches.count > 1 else result

    def _several(self, count: int, batches: Any) -> Any:
        """What each of ``count`` steps gives, one beside the other, in a loop."""

        def body(number: Any, found: Any) -> Any:
            given = self._step(at(batches, number))
            update = tf.tensor_scatter_nd_update
            return number + 1, tf.nest.map_structure(
                lambda all_, own: update(all_, [[number]], own[None]), found, given
            )

        form = form_of(self._step, at(batches, 0))
        found = tf.nest.map_structure(lambda spec: tf.zeros((count, *spec.shape), spec.dtype), form)
        return tf.while_loop(lambda number, _: number < count, body, (tf.constant(0), found))[1]


def merged(rows: Any) -> Any:
    """The rows of several batches as those of one."""
    return tf.nest.map_structure(lambda each: tf.reshape(each, [-1, *each.shape[2:]]), rows)
