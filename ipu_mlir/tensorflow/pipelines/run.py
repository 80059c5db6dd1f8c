"""Pipelines in functions that are traced for the device."""

import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import resource_variable_ops

from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.lowering import ADDITIONS
from ipu_mlir.tensorflow.pipelines.definition import Definition
from ipu_mlir.tensorflow.pipelines.settings import Settings
from ipu_mlir.tensorflow.pipelines.stages import Stage
from ipu_mlir.tensorflow.pipelines.update import Training, Update
from ipu_mlir.tensorflow.variables import own_handle

Taken = Callable[[], tuple[list[Any], dict[str, Any]]] | None
_NUMBERS = count()
_OF_GRAPHS: "weakref.WeakKeyDictionary[Any, list[Definition]]" = weakref.WeakKeyDictionary()
"""Who has the graph of a program, which only knows its pipelines by their names, has them."""


def run_pipeline(
    stages: Sequence[Callable[..., Any]],
    settings: Settings,
    inputs: Sequence[Any] = (),
    data: Sequence[Any] = (),
    training: Training | None = None,
) -> list[tf.Tensor]:
    """The results of the last stage for all micro-batches, each with one more first axis, in a program.

    Args:
        stages: functions; each takes what the one before gives, the first one ``inputs``, and then its data.
        inputs: tensors that are the same for each micro-batch.
        data: for each stage nested tensors with a first axis of micro-batches, or None; those of the first stages may
            be given alone.
        training: how variables are trained. The first result of the last stage is the loss.

    Raises:
        TypeError, ValueError: a stage takes or gives something else.
    """
    traced = trace_stages(stages, inputs, data)
    ready = Ready(traced, settings, training, ["all"] * len(traced[-1].results))
    return ready.run(inputs, [leaf for part in data if part is not None for leaf in tf.nest.flatten(part)])


def trace_stages(
    stages: Sequence[Callable[..., Any]], inputs: Sequence[Any] = (), data: Sequence[Any] = (), taken: Taken = None
) -> list[Stage]:
    """Stages, each of what the one before gives; the first one takes its arguments from a queue as well."""
    found: list[Stage] = []
    for number, function in enumerate(stages):
        one = tf.nest.map_structure(_row, data[number]) if number < len(data) and data[number] is not None else None
        name = getattr(function, "__name__", type(function).__name__).strip("<>")
        if not found:
            found.append(Stage(name, function, [tf.convert_to_tensor(each) for each in inputs], None, one, taken))
            continue
        leaves = list(tf.nest.flatten(found[-1].nested))
        rest = iter(found[-1].results)
        filled = [None if each is None else next(rest) for each in leaves]
        found.append(Stage(name, function, [], tf.nest.pack_sequence_as(found[-1].nested, filled), one))
    return found


class Ready:
    """A pipeline that is ready to run in the graph that is being made, and in those of its loops."""

    def __init__(self, stages: list[Stage], settings: Settings, training: Training | None, kept: Sequence[str]) -> None:
        """Differentiate stages, and trace the update.

        Args:
            kept: for each result of the last stage, what the program gets: all, sum, last or none.
        """
        self._stages, self._settings, self._kept = stages, settings, list(kept)
        self._update: Update | None = None
        if training is not None:
            for number, stage in enumerate(stages):
                stage.differentiate(training.variables, training.differentiate, number == len(stages) - 1)
            self._update = Update(training, stages, settings)
            stages[-1].also_give(self._update.taken)
            self._kept += ["last"] * len(self._update.taken)
        name = f"pipeline_{next(_NUMBERS)}"
        self._definition = Definition(name, stages, settings, training is not None, self._kept)
        graph = tf.compat.v1.get_default_graph()
        _OF_GRAPHS.setdefault(graph, []).append(self._definition)
        ADDITIONS[name] = self._definition
        for stage in stages:
            for variable in stage.variables():  # the program knows all of them, those as well that it does not touch
                resource_variable_ops.variable_accessed(variable)
            for handle in stage.handles():
                graph.capture(handle)

    def run(self, inputs: Sequence[Any], data: Sequence[tf.Tensor] = ()) -> list[tf.Tensor]:
        """What is kept of the results, after an update if the pipeline trains."""
        operands: list[tf.Tensor] = []
        slopes: list[tuple[Any, tf.TensorSpec]] = []
        for number, stage in enumerate(self._stages):
            values = [_value(each) for each in stage.trained] + (list(inputs) if not number else [])
            operands += [tf.convert_to_tensor(each) for each in values]
            for variable in stage.trained:
                slopes.append((variable, tf.TensorSpec(variable.shape, self._settings.accumulator_of(variable))))
            slopes += [(None, tf.TensorSpec(each.shape, each.dtype)) for each in stage.inputs if each.dtype.is_floating]
        count = self._settings.count
        wanted = [
            tf.TensorSpec([count, *spec.shape] if word == "all" else spec.shape, spec.dtype)
            for word, spec in zip(self._kept, self._stages[-1].specs, strict=True)
            if word != "none"
        ]
        specs = wanted if self._update is None else [*wanted, *(spec for _, spec in slopes)]
        operands += [*data] if isinstance(count, int) else [*data, count]
        found = call("run_pipeline", operands, specs, ordered=True, pipeline=self._definition.name)
        results = found[: len(wanted)]
        if self._update is None:
            return results
        sums: dict[int, tf.Tensor] = {}
        for (variable, _), slope in zip(slopes, found[len(wanted) :], strict=True):
            if variable is not None:  # of one that several stages use, the gradients add up
                key = id(own_handle(variable))
                sums[key] = sums[key] + slope if key in sums else slope
        taken = len(results) - len(self._update.taken)
        self._update.run([sums[id(own_handle(each))] for each in self._update.variables], results[taken:])
        return results[:taken]


def _row(whole: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(whole.shape[1:], whole.dtype)


def _value(variable: Any) -> tf.Tensor:
    resource_variable_ops.variable_accessed(variable)
    return tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)
