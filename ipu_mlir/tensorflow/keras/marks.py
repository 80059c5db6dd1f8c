"""Layers and their calls that are made in the block of a pipeline stage remember it."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from keras.src.backend.common import global_state
from keras.src.layers.layer import Layer
from keras.src.ops.node import Node

_STAGE: ContextVar[int | None] = ContextVar("pipeline stage", default=None)
_MARK = "_ipu_pipeline_stage"
_CALL_HAS_STAGES = "_ipu_call_has_stages"


@contextmanager
def in_stage(stage: int) -> Iterator[None]:
    """A block whose layers, and whose calls of layers, belong to a pipeline stage.

    Raises:
        ValueError: the stage is below 0.
        RuntimeError: there is such a block around.
    """
    if isinstance(stage, bool) or not isinstance(stage, int) or stage < 0:
        raise ValueError(f"{stage!r} is not a valid pipeline stage; stages are counted from 0")
    if _STAGE.get() is not None:
        raise RuntimeError(
            f"Pipeline stages must not be nested: stage {stage} is entered in that of stage {_STAGE.get()}"
        )
    _remember_stages()
    model = called_model()
    if model is not None:
        model.__dict__[_CALL_HAS_STAGES] = True
    before = _STAGE.set(stage)
    try:
        yield
    finally:
        _STAGE.reset(before)


def called_model() -> Any:
    """The model, or layer, from which all layers are called now; None outside of calls."""
    return getattr(global_state.get_global_attribute("current_call_ctx"), "entry_layer", None)


def stage_of(node: Node) -> int | None:
    """The stage of a call: that of the block of the call, or else that of the block in which the layer was made."""
    own = node.__dict__.get(_MARK)
    return node.operation.__dict__.get(_MARK) if own is None else own


def call_has_stages(model: Any) -> bool:
    """True if a model has been called whose ``call`` enters stages, or if one of its layers was made in one."""
    return model.__dict__.get(_CALL_HAS_STAGES, False) or any(
        _MARK in layer.__dict__ for layer in model._flatten_layers(include_self=False)
    )


@functools.cache
def _remember_stages() -> None:
    """Mark what is made from now on; Keras reads the signatures of ``Layer.__init__``, which stays as it is."""
    new, begin = Layer.__new__, Node.__init__

    @functools.wraps(new)
    def make(kind: type, *args: Any, **kwargs: Any) -> Any:
        return _marked(new(kind, *args, **kwargs))

    @functools.wraps(begin)
    def call(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        _marked(self)

    Layer.__new__, Node.__init__ = staticmethod(make), call  # type: ignore[method-assign]


def _marked(made: Any) -> Any:
    if _STAGE.get() is not None:
        made.__dict__[_MARK] = _STAGE.get()
    return made
