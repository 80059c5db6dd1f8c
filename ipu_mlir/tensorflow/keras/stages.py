"""The stages of a model as functions: each runs its calls of layers, and yields what later ones take."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf
from keras.src import tree
from keras.src.backend.common import global_state
from keras.src.layers.layer import CallContext, Layer
from keras.src.models.functional import operation_fn
from keras.src.ops.function import Function
from keras.src.ops.node import Node


class Stages:
    """The stages of a model, for training or not.

    They are traced in their order: a stage says by ``functions`` what the next one takes.
    """

    def __init__(self, model: Any, graph: Function, calls: Sequence[Sequence[Node]], training: bool) -> None:
        """Take the calls of layers of each stage of ``graph``, which is that of ``model``."""
        self._model, self._graph, self._training = model, graph, training
        self._calls = [list(each) for each in calls]
        self._masked: list[int] = []
        self._has_losses = False
        needed: set[int] = {id(each) for each in graph.outputs}
        self._handed: list[list[Any]] = [[] for _ in calls]
        inputs = {id(each) for each in graph.inputs}
        for stage in reversed(range(1, len(self._calls))):
            own = [each for node in self._calls[stage] for each in node.outputs]
            taken = [each for node in self._calls[stage] for each in node.input_tensors]
            needed = {*needed, *map(id, taken)} - {id(each) for each in own} - inputs
            before = [each for calls in self._calls[:stage] for node in calls for each in node.outputs]
            self._handed[stage - 1] = [each for each in before if id(each) in needed]

    def data(self, x: Any) -> list[list[Any]]:
        """For each stage, the inputs of the model that it takes; those of the first stage may be more than it does."""
        values = dict(zip(map(id, self._graph.inputs), self._standardized(x), strict=True))
        return [[values[id(each)] for each in self._inputs(stage)] for stage in range(len(self._calls))]

    def functions(self, finish: Callable[..., Any]) -> list[Callable[..., Any]]:
        """A function for each stage.

        Args:
            finish: gives the results of the last stage from the outputs of the model, a list of further losses, and
                the data of that stage besides inputs.
        """
        return [self._function(stage, finish) for stage in range(len(self._calls))]

    def _function(self, stage: int, finish: Callable[..., Any]) -> Callable[..., Any]:
        is_last = stage == len(self._calls) - 1
        taken, inputs = (self._handed[stage - 1] if stage else []), self._inputs(stage)

        def run(*given: Any) -> Any:
            rest = iter(given)
            values = {id(each): next(rest) for each in taken}
            for each in self._masked if stage else ():
                keras.src.backend.set_keras_mask(values[each], next(rest))
            losses = [next(rest)] if stage and self._has_losses else []
            values.update({id(each): next(rest) for each in inputs})
            losses += self._run(stage, values)
            if is_last:
                outputs = tree.pack_sequence_as(
                    self._graph._outputs_struct, [values[id(each)] for each in self._graph.outputs]
                )
                return finish(_unpacked(outputs, self._model), losses, *rest)
            handed = [values[id(each)] for each in self._handed[stage]]
            masks = [(id(each), keras.src.backend.get_keras_mask(values[id(each)])) for each in self._handed[stage]]
            self._masked = [each for each, mask in masks if mask is not None]
            self._has_losses = bool(losses)
            return (*handed, *(mask for _, mask in masks if mask is not None), *([tf.add_n(losses)] if losses else []))

        run.__name__ = f"stage_{stage}"
        return run

    def _run(self, stage: int, values: dict[int, Any]) -> list[Any]:
        """Run the calls of a stage; gives the losses of its layers and of their weights."""
        with _call_of(self._model, self._training):
            for node in self._calls[stage]:
                filled: Any = node.arguments.fill_in(values)
                args, kwargs = filled
                found = operation_fn(node.operation, training=self._training)(*args, **kwargs)
                for each, value in zip(node.outputs, tree.flatten(found), strict=True):
                    values[id(each)] = value
            earlier = {id(node.operation) for calls in self._calls[:stage] for node in calls}
            layers = {id(node.operation): node.operation for node in self._calls[stage]}
            losses = []
            for key, layer in layers.items():
                if not isinstance(layer, Layer):
                    continue
                losses += [each for part in layer._flatten_layers() for each in part._get_own_losses()]
                losses += [] if key in earlier else layer._get_regularization_losses()
                layer._clear_losses()
        return [self._model._aggregate_additional_loss(each) for each in losses]

    def _inputs(self, stage: int) -> list[Any]:
        """The inputs of the model that a stage takes; the first stage has at least one, whose batches are counted."""
        taken = {id(each) for node in self._calls[stage] for each in node.input_tensors}
        if stage == len(self._calls) - 1:
            taken |= {id(each) for each in self._graph.outputs}
        return [each for each in self._graph.inputs if id(each) in taken]

    def _standardized(self, x: Any) -> list[Any]:
        """What the model takes as a list of tensors of micro-batches, in the order and the types of its inputs."""
        graph = self._graph
        if isinstance(graph._inputs_struct, dict) and isinstance(x, dict):
            flat = [x[name] for name in sorted(graph._inputs_struct)]
            order = [graph._inputs_struct[name] for name in sorted(graph._inputs_struct)]
            by_id = dict(zip(map(id, order), flat, strict=True))
            flat = [by_id[id(each)] for each in graph.inputs]
        elif isinstance(x, dict):
            flat = [x[each.name] for each in graph.inputs]
        else:
            flat = tree.flatten(x)
        if len(flat) != len(graph.inputs):
            raise ValueError(
                f"model {self._model.name!r} takes {len(graph.inputs)} tensors, and the batches have {len(flat)}"
            )
        return [_as_input(value, each, self._model) for value, each in zip(flat, graph.inputs, strict=True)]


def _as_input(value: Any, spec: Any, model: Any) -> Any:
    """Micro-batches of the rank of an input of the model, in its type."""
    value = tf.cast(value, spec.dtype)
    rank = value.shape.rank - 1
    if rank == len(spec.shape) - 1 and spec.shape[-1] == 1:
        value = tf.expand_dims(value, -1)
    elif rank == len(spec.shape) + 1 and value.shape[-1] == 1:
        value = tf.squeeze(value, -1)
    sizes = zip(value.shape[2:], spec.shape[1:], strict=False)  # a model knows the size of the first batch that it saw
    if value.shape.rank - 1 != len(spec.shape) or any(own not in (None, given) for given, own in sizes):
        raise ValueError(
            f"model {model.name!r} takes batches of shape {spec.shape} for {spec.name!r}, got {tuple(value.shape[1:])}"
        )
    return value


def _unpacked(outputs: Any, model: Any) -> Any:
    """What a functional model gives: one output alone."""
    one = isinstance(outputs, list | tuple) and len(outputs) == 1 and not tf.is_tensor(outputs)
    return outputs[0] if one else outputs


@contextmanager
def _call_of(model: Any, training: bool) -> Iterator[None]:
    """A block in which layers are called as by the model, so that their losses stay."""
    before = global_state.get_global_attribute("current_call_ctx")
    context = CallContext(entry_layer=model)
    context.training = training
    global_state.set_global_attribute("current_call_ctx", context)
    try:
        yield
    finally:
        global_state.set_global_attribute("current_call_ctx", before)
