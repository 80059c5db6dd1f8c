"""What happens to variables behind a pipeline, as a graph of TensorFlow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph, func_graph_from_py_func
from tensorflow.python.ops import resource_variable_ops

from ipu_mlir.tensorflow.imported_graphs import import_graph
from ipu_mlir.tensorflow.pipelines.settings import Settings
from ipu_mlir.tensorflow.pipelines.stages import Differentiate, Stage, autographed
from ipu_mlir.tensorflow.variables import offload, own_handle


@dataclass(frozen=True)
class Training:
    """How a pipeline is trained.

    Attributes:
        variables: those that are trained; None for all trainable ones that stages use.
        update: changes them by pairs of a gradient and a variable, behind the pipeline.
        differentiate: gives the gradients of a loss by variables for each micro-batch; as TensorFlow does, if None.
    """

    variables: Sequence[Any] | None
    update: Callable[[list[tuple[tf.Tensor, Any]]], Any]
    differentiate: Differentiate | None = None


class Update:
    """The update of a pipeline, which may use tensors of its last stage, as they are in the last micro-batch.

    Attributes:
        taken: those tensors.
    """

    def __init__(self, training: Training, stages: Sequence[Stage], settings: Settings) -> None:
        """Trace the update."""
        trained = {id(own_handle(each)): each for stage in stages for each in stage.trained}
        self.variables = list(trained.values())
        self._last = stages[-1].graph
        specs = [tf.TensorSpec(each.shape, settings.accumulator_of(each)) for each in self.variables]

        def traced(*slopes: tf.Tensor) -> list[tf.Tensor]:
            autographed(training.update)(list(zip(slopes, self.variables, strict=True)))
            return []

        with self._last.as_default():
            self._graph: FuncGraph = func_graph_from_py_func("update", traced, specs, {}, add_control_dependencies=True)
        self.taken = [outside for outside, _ in self._graph.captures if getattr(outside, "graph", None) is self._last]
        used = [each for each in self._graph.variables if id(own_handle(each)) not in trained]
        states = [each for each in used if each.dtype.is_floating and not any(_is_used(each, own) for own in stages)]
        for is_cut, variables in ((settings.update_variables, states), (settings.weights, self.variables)):
            if is_cut is not None:
                for each in variables:
                    offload(each, is_cut)

    def run(self, slopes: Sequence[tf.Tensor], taken: Sequence[tf.Tensor]) -> None:
        """Update the variables in the graph that is being made, with ``taken`` for the tensors of the last stage."""
        own = {id(outside): value for outside, value in zip(self.taken, taken, strict=True)}
        graph = tf.compat.v1.get_default_graph()
        for each in self._graph.variables:
            resource_variable_ops.variable_accessed(each)
        captures = [(outside, inside) for outside, inside in self._graph.captures]
        values = [own[id(outside)] if id(outside) in own else graph.capture(outside) for outside, _ in captures]
        inputs = [*self._graph.inputs[: len(self.variables)], *(inside for _, inside in captures)]
        import_graph(self._graph, inputs, [*slopes, *values], [])


def _is_used(variable: Any, stage: Stage) -> bool:
    return any(each is own_handle(variable) for each in stage.handles())
