"""Operations of one graph of TensorFlow in another."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.ops import resource_variable_ops


def import_graph(
    inner: FuncGraph, inputs: Sequence[tf.Tensor], given: Sequence[Any], results: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """What ``results`` of ``inner`` are in the graph that is being made, with ``given`` for its ``inputs``."""
    placeholders = {each.op.name for each in inputs}
    definition = inner.as_graph_def()
    for place in reversed(range(len(definition.node))):
        if definition.node[place].name in placeholders:
            del definition.node[place]
        else:
            definition.node[place].attr.pop("_class", None)  # beside which op it stands, which may be gone
    read = {f"{source.partition(':')[0]}:0" for node in definition.node for source in node.input}
    known = {each.name: own for each, own in zip(inputs, given, strict=True)}
    mapped = {name: own for name, own in known.items() if name in read}
    names = [each.name for each in results if each.name not in known]
    made = iter(tf.graph_util.import_graph_def(definition, mapped, names, name="") or [])
    return [known[each.name] if each.name in known else next(made) for each in results]


def handle_in_graph(variable: Any) -> tf.Tensor:
    """The handle of a variable in the function that is being traced, which knows from then on that it uses it."""
    resource_variable_ops.variable_accessed(variable)
    return tf.compat.v1.get_default_graph().capture(variable.handle)
