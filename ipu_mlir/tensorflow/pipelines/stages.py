"""A stage of a pipeline as a graph of TensorFlow, with its gradients."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph, func_graph_from_py_func
from tensorflow.python.framework.ops import EagerTensor

from ipu_mlir.tensorflow.custom_calls import is_token
from ipu_mlir.tensorflow.variables import own_handle, variable_of

Differentiate = Callable[[tf.Tensor, list[Any]], Sequence[Any]]
"""From a loss and variables to gradients, None where there is none, in a graph."""

_INSIDE: ContextVar[bool] = ContextVar("in a stage of a pipeline", default=False)
_KEEPS: ContextVar[bool] = ContextVar("checkpoints of stages are kept", default=False)


def is_in_stage() -> bool:
    """True while a stage of a pipeline is traced."""
    return _INSIDE.get()


def are_checkpoints_kept() -> bool:
    """True while stages are traced that store checkpoints, and compute other values again."""
    return _INSIDE.get() and _KEEPS.get()


@contextmanager
def with_checkpoints(are_kept: bool) -> Iterator[None]:
    """In the block, stages are traced whose checkpoints are kept, or are not."""
    before = _KEEPS.set(are_kept)
    try:
        yield
    finally:
        _KEEPS.reset(before)


@contextmanager
def _in_stage() -> Iterator[None]:
    before = _INSIDE.set(True)
    try:
        yield
    finally:
        _INSIDE.reset(before)


class Stage:
    """A stage: tensors in, tensors out.

    Attributes:
        graph: what it does.
        inputs: tensors of the graph that are the same for each micro-batch.
        given: those that the stage before gives.
        data: those that differ from micro-batch to micro-batch.
        results: what it gives.
        nested: the same, as its function nests them.
        trained: the variables by which it is differentiated.
        cotangents: those of the results that are floats; none before it is differentiated.
        gradients: of the loss by variables, then by inputs and what is given, as far as they are floats.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        inputs: Any,
        given: Any = None,
        data: Any = None,
        taken: Callable[[], tuple[list[Any], dict[str, Any]]] | None = None,
    ) -> None:
        """Trace ``function``.

        Args:
            inputs: a list, whose entries are its first arguments.
            given: what the stage before gives, as that nests it; its next arguments. None of the first stage.
            data: nested tensors or specs of one micro-batch; a tuple is several arguments. None if there are none.
            taken: takes further arguments from a queue, by place and by name.

        Raises:
            TypeError: it takes other arguments.
            ValueError: it uses a tensor from around the pipeline, or gives something that is no tensor.
        """
        parts: list[Any] = [inputs, given, data]
        leaves = [tf.nest.flatten(each) if each is not None else [] for each in parts]
        specs = [tf.TensorSpec(leaf.shape, leaf.dtype) for part in leaves for leaf in part]
        converted = autographed(function)

        def traced(*flat: tf.Tensor) -> list[tf.Tensor]:
            rest = iter(flat)
            nested = [
                None if each is None else tf.nest.pack_sequence_as(each, [next(rest) for _ in part])
                for each, part in zip(parts, leaves, strict=True)
            ]
            by_place, by_name = list(nested[0] or ()), {}
            for each in nested[1:]:
                more, named = arguments(each)
                by_place, by_name = [*by_place, *more], {**by_name, **named}
            if taken is not None:
                more, named = taken()
                by_place, by_name = [*by_place, *more], {**by_name, **named}
            _check_arguments(function, name, by_place, by_name)
            with _in_stage():
                self.nested = _without_operations(converted(*by_place, **by_name))
            return [_tensor(leaf, name) for leaf in tf.nest.flatten(self.nested) if leaf is not None]

        self.name = name
        self.graph: FuncGraph = func_graph_from_py_func(name, traced, specs, {}, add_control_dependencies=True)
        rest = iter(self.graph.inputs)
        self.inputs, self.given, self.data = ([next(rest) for _ in part] for part in leaves)
        self.results = list(self.graph.outputs)
        self.trained: list[Any] = []
        self.cotangents: list[tf.Tensor] = []
        self.gradients: list[tf.Tensor] = []
        for outside, _ in self.graph.captures:
            if outside.dtype != tf.resource and not isinstance(outside, EagerTensor):
                raise ValueError(
                    f"Trying to capture the tensor {outside.name} which is not a resource, in {name}. Pass it to the "
                    "pipeline in inputs, or let an infeed_queue have it"
                )

    @property
    def arguments(self) -> list[tf.Tensor]:
        """All that is no variable."""
        return [*self.inputs, *self.given, *self.data, *self.cotangents]

    @property
    def specs(self) -> list[tf.TensorSpec]:
        """Of its results."""
        return [tf.TensorSpec(each.shape, each.dtype) for each in self.results]

    def variables(self) -> list[Any]:
        """The variables that it uses."""
        found = [self.variable_of(each) for each in self.handles()]
        return [each for each in found if each is not None]

    def variable_of(self, handle: Any) -> Any:
        """The variable of a handle that it uses; None of what only keeps an order."""
        own = (each for each in self.graph.variables if own_handle(each) is handle)
        found = next(own, variable_of(handle))
        return None if is_token(found) else found

    def handles(self) -> list[Any]:
        """The handles that it uses of what is around it."""
        return [outside for outside, _ in self.graph.captures if outside.dtype == tf.resource]

    def differentiate(self, wanted: Sequence[Any] | None, by: Differentiate | None, is_last: bool) -> None:
        """Let it have gradients as well.

        Args:
            wanted: variables that are trained; None for all that are trainable.
            by: gives the gradients by variables; as TensorFlow does if it is None.
            is_last: whether its first result is the loss, and the others have no gradients.
        """
        own = self.variables()
        if wanted is None:
            self.trained = [each for each in own if each.trainable and each.dtype.is_floating]
        else:
            asked = {id(own_handle(each)) for each in wanted}
            self.trained = [each for each in own if id(own_handle(each)) in asked]
        floats = [each for each in self.results if each.dtype.is_floating]
        self._add_cotangents(floats)
        with self.graph.as_default():
            ends = floats[:1] if is_last else floats
            slopes = self.cotangents[:1] if is_last else self.cotangents
            tensors = [each for each in (*self.inputs, *self.given) if each.dtype.is_floating]
            if by is None:
                found = _gradients(ends, [*self.trained, *tensors], slopes)
            else:
                found = [*self._asked(by, ends, slopes), *_gradients(ends, tensors, slopes)]
            pairs = zip(found, (*self.trained, *tensors), strict=True)
            self.gradients = [
                tf.zeros(own.shape, own.dtype) if each is None else tf.cast(tf.convert_to_tensor(each), own.dtype)
                for each, own in pairs
            ]

    def also_give(self, tensors: Sequence[tf.Tensor]) -> None:
        """Let tensors of the graph be results as well, by which nothing is differentiated."""
        self.results += tensors
        self._add_cotangents([each for each in tensors if each.dtype.is_floating])

    def _add_cotangents(self, of: Sequence[tf.Tensor]) -> None:
        with self.graph.as_default():
            self.cotangents += [tf.compat.v1.placeholder(each.dtype, each.shape) for each in of]

    def _asked(self, by: Differentiate, ends: list[tf.Tensor], slopes: list[tf.Tensor]) -> Sequence[Any]:
        """Gradients by variables of a sum whose gradients by the results ``ends`` are ``slopes``."""
        if not self.trained:
            return []
        each = [tf.cast(tf.reduce_sum(end * slope), tf.float32) for end, slope in zip(ends, slopes, strict=True)]
        return by(tf.add_n(each), self.trained) if each else [None] * len(self.trained)


def autographed(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as TensorFlow converts it, if it converts the function that is being traced."""
    return tf.__internal__.autograph.tf_convert(function, tf.__internal__.autograph.control_status_ctx())


def arguments(given: Any) -> tuple[list[Any], dict[str, Any]]:
    """What a stage takes of what the one before gives: by place, or of a dict by name."""
    if given is None:
        return [], {}
    if isinstance(given, Mapping) and all(isinstance(key, str) for key in given):
        return [], dict(given)
    return (list(given), {}) if isinstance(given, list | tuple) else ([given], {})


def _gradients(ends: list[tf.Tensor], by: Sequence[Any], slopes: list[tf.Tensor]) -> Sequence[Any]:
    return tf.gradients(ends, list(by), slopes) if ends and by else [None] * len(by)


def _without_operations(given: Any) -> Any:
    """What a stage gives besides operations, which run anyway."""
    if isinstance(given, tf.Operation):
        return None
    if isinstance(given, list | tuple):
        return [each for each in given if not isinstance(each, tf.Operation)]
    return given


def _tensor(leaf: Any, name: str) -> tf.Tensor:
    tensor = tf.convert_to_tensor(leaf)
    if not tensor.shape.is_fully_defined():
        raise ValueError(
            f"the stage {name} gives {tensor.name} of shape {tensor.shape}; IPUs pass on tensors of one size, which "
            "set_shape says where TensorFlow does not know it"
        )
    return tensor


def _check_arguments(function: Callable[..., Any], name: str, by_place: list[Any], by_name: dict[str, Any]) -> None:
    try:
        inspect.signature(function).bind(*by_place, **by_name)
    except TypeError as error:
        given = ", ".join([*("a tensor" for _ in by_place), *by_name])
        raise TypeError(f"the stage {name} cannot be called with ({given}): {error}") from error
    except ValueError:  # built-in functions say nothing of their arguments
        return
