"""The calls of layers that a model consists of."""

from typing import Any

import keras
import tensorflow as tf
from keras.src.models.functional import Functional
from keras.src.ops.function import Function
from keras.src.ops.node import Node

from ipu_mlir.tensorflow.keras.assignments import (
    FunctionalLayerPipelineStageAssignment,
    ModelLayerPipelineStageAssignment,
    SequentialLayerPipelineStageAssignment,
    check_graph,
    check_sequential,
)
from ipu_mlir.tensorflow.keras.marks import call_has_stages, stage_of
from ipu_mlir.tensorflow.keras.options import options_of

_TRACED = "_ipu_traced_graph"


def is_pipelined(model: Any) -> bool:
    """True if calls of its layers have stages."""
    own = options_of(model).stages
    if own is not None or isinstance(model, keras.Sequential):
        return bool(own)
    if isinstance(model, Functional):
        return any(stage_of(node) is not None for node in calls_of(model))
    return call_has_stages(model)


def graph_of(model: Any, batch: Any = None) -> Function:
    """The graph of a model; that of a subclass is what its ``call`` does with tensors of the shapes it is built for.

    Args:
        batch: what the model takes, nested; needed where it is not built yet.

    Raises:
        RuntimeError: the model is not built.
    """
    if isinstance(model, Functional):
        return model
    if isinstance(model, keras.Sequential):
        if model._functional is None and batch is not None:
            model.build(tuple(batch.shape) if tf.is_tensor(batch) else tf.nest.map_structure(_shape, batch))
        if model._functional is None:
            raise RuntimeError(
                f"model {model.name!r} is no chain of layers of one tensor each, or not built yet; call "
                "model.build(input_shape), or make a functional model"
            )
        return model._functional
    found = model.__dict__.get(_TRACED)
    if found is None:
        found = model.__dict__[_TRACED] = _traced(model, batch)
    return found


def _is_subclass(model: Any) -> bool:
    return not isinstance(model, Functional | keras.Sequential)


def _shape(leaf: Any) -> tuple[int, ...]:
    return tuple(leaf.shape)


def _traced(model: Any, batch: Any) -> Function:
    if batch is not None:
        inputs = tf.nest.map_structure(
            lambda each: keras.Input(shape=each.shape[1:], dtype=keras.backend.standardize_dtype(each.dtype)), batch
        )
    else:
        shapes = list((getattr(model, "_build_shapes_dict", None) or {}).values())
        if not shapes:
            raise RuntimeError(
                f"Cannot get pipeline stage assignments for model `{model.name}` which has not been built yet. Please "
                "call `model.build()` first."
            )
        inputs = _inputs(shapes[0])
    return Function(inputs, model.call(inputs))


def _inputs(shape: Any) -> Any:
    """Symbolic tensors of nested shapes; a shape that is one already, as of ``keras.Input``, stays."""
    if keras.backend.is_keras_tensor(shape):
        return shape
    if isinstance(shape, dict):
        return {name: _inputs(each) for name, each in shape.items()}
    if all(each is None or isinstance(each, int) for each in shape):
        return keras.Input(batch_shape=tuple(shape))
    return [_inputs(each) for each in shape]


def calls_of(graph: Function) -> list[Node]:
    """The calls of layers of a graph, in the order in which they run."""
    depths = sorted(graph._nodes_by_depth, reverse=True)
    return [node for depth in depths for node in graph._nodes_by_depth[depth] if node.operation and not node.is_input]


def assignments_of(model: Any) -> list[Any]:
    """An assignment for each call of a layer: those that have been set, or else with the stages of their blocks."""
    own = options_of(model).stages
    if own:
        return list(own)
    found = _marked(model)
    for each in found if own is not None else ():
        each.pipeline_stage = None
    return found


def _marked(model: Any) -> list[Any]:
    if isinstance(model, keras.Sequential):
        return [SequentialLayerPipelineStageAssignment(layer) for layer in model.layers]
    kind = ModelLayerPipelineStageAssignment if _is_subclass(model) else FunctionalLayerPipelineStageAssignment
    return [
        kind(node.operation, node.operation._inbound_nodes.index(node), stage_of(node))
        for node in calls_of(graph_of(model))
    ]


def marked_assignments(model: Any) -> list[Any] | None:
    """Assignments by the blocks in which layers and calls were made; None if there were no such blocks, or one.

    All calls of a model that is a layer of another one may belong to one stage of that.

    Raises:
        ValueError: some have a stage and others have none, or they make no pipeline.
    """
    found = _marked(model)
    if len({each.pipeline_stage for each in found}) < 2:
        return None
    check_assignments(model, found)
    return found


def check_assignments(model: Any, given: Any) -> None:
    """Check that ``given`` are the assignments of a model.

    Raises:
        ValueError: they are not.
    """
    if not isinstance(given, list):
        raise ValueError(f"`pipeline_stage_assignment` needs to be a list, got {type(given).__name__}")
    blank = _marked(model)
    if len(given) != len(blank):
        what = "layers" if isinstance(model, keras.Sequential) else "invocations of layers"
        raise ValueError(
            f"The size of the provided `pipeline_stage_assignment` ({len(given)}) does not match the total number of "
            f"{what} in the model (currently {len(blank)}). Each of them needs to be assigned to a pipeline stage "
            "(excluding input layers)."
        )
    kind = type(blank[0])
    for place, (one, own) in enumerate(zip(given, blank, strict=True)):
        if type(one) is not kind:
            raise ValueError(
                f"All elements of `pipeline_stage_assignment` need to be instances of `{kind.__name__}`, got "
                f"{type(one).__name__}."
            )
        if one.layer is not own.layer or getattr(one, "node_index", 0) != getattr(own, "node_index", 0):
            raise ValueError(
                f"The order of `pipeline_stage_assignment` does not match that of the model: the assignment at index "
                f"{place} is for layer {one.layer.name}, but layer {own.layer.name} runs there."
            )
    stages = [each.pipeline_stage for each in given]
    if isinstance(model, keras.Sequential):
        check_sequential(model.layers, stages)
    else:
        graph = graph_of(model)
        check_graph(calls_of(graph), graph.inputs, stages)


def stage_assignments(model: Any, batch: Any = None) -> list[Any]:
    """The assignments of a model that is a pipeline.

    Args:
        batch: what the model takes; needed where it is not built yet.

    Raises:
        ValueError: layers have been added since their stages were set.
    """
    own = options_of(model)
    if not isinstance(model, keras.Sequential):
        graph_of(model, batch)
    if own.stages is None:
        own.stages = _marked(model)
    check_assignments(model, own.stages)
    return own.stages or []


def calls_of_stages(model: Any, batch: Any) -> list[list[Node]]:
    """The calls of each stage of a model that is a pipeline."""
    graph = graph_of(model, batch)
    stages = [each.pipeline_stage for each in stage_assignments(model)]
    found: list[list[Node]] = [[] for _ in range(1 + max(stages))]
    for node, stage in zip(calls_of(graph), stages, strict=True):
        found[stage].append(node)
    return found
