"""Sizes that an ONNX model computes: computed before the import, so that the importer sees numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx

_MOST = 10_000
"""Elements of a value that is computed here: places and sizes are small, weights stay as they are."""
DRAWING = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)


def fold_sizes(model: onnx.ModelProto) -> None:
    """Put values in place of the nodes of ``model`` that compute them from constants and sizes alone.

    What is known of sizes grows with that: a reshape to a size that was computed has sizes itself. A model whose sizes
    are known without is left as it is.
    """
    while True:
        shapes = _shapes(model)
        if all(shapes.get(name) is not None for node in model.graph.node for name in node.output if name):
            return
        found = dict(_computed(model, shapes))
        if not found:
            return
        outputs = {each.name for each in model.graph.output}
        kept = [n for n in model.graph.node if outputs.intersection(n.output) or not found.keys() >= set(n.output)]
        if len(kept) == len(model.graph.node):
            return
        del model.graph.node[:]
        model.graph.node.extend(kept)
        made = {name for node in kept for name in node.output}
        model.graph.initializer.extend(
            onnx.numpy_helper.from_array(value, name) for name, value in found.items() if name not in made
        )


def _shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """The shapes that are known, by the names of values."""
    light = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    light.graph.CopyFrom(onnx.GraphProto(name=model.graph.name or "main", node=model.graph.node))
    light.graph.output.extend(model.graph.output)
    weights = {each.name for each in model.graph.initializer}
    light.graph.input.extend(each for each in model.graph.input if each.name not in weights)
    for each in model.graph.initializer:
        if _size(each.dims) <= _MOST:
            light.graph.initializer.append(each)
        else:
            light.graph.input.append(onnx.helper.make_tensor_value_info(each.name, each.data_type, each.dims))
    graph = onnx.shape_inference.infer_shapes(light, data_prop=True).graph
    found = {each.name: tuple(each.dims) for each in model.graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        kind = value.type.tensor_type
        if kind.HasField("shape") and all(size.HasField("dim_value") for size in kind.shape.dim):
            found[value.name] = tuple(size.dim_value for size in kind.shape.dim)
    return found


def _computed(model: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, np.ndarray]]:
    """The values of nodes that need nothing else than sizes and constants."""
    small = (each for each in model.graph.initializer if _size(each.dims) <= _MOST)
    known = {each.name: onnx.numpy_helper.to_array(each) for each in small}
    for node in model.graph.node:
        if node.op_type in DRAWING or any(each.HasField("g") for each in node.attribute):
            continue
        if node.op_type in ("Shape", "Size") and node.input[0] in shapes:
            values = _run(model, node, {node.input[0]: np.broadcast_to(np.int8(0), shapes[node.input[0]])})
        elif all(name in known for name in node.input if name):
            values = _run(model, node, {name: known[name] for name in node.input if name})
        else:
            continue
        if all(isinstance(each, np.ndarray) and each.size <= _MOST for each in values):
            pairs = dict(zip(filter(None, node.output), values, strict=False))
            known |= pairs
            if node.op_type != "Constant":
                yield from pairs.items()


def _run(model: onnx.ModelProto, node: onnx.NodeProto, inputs: Mapping[str, np.ndarray]) -> list[Any]:
    """What ``node`` gives; nothing if ONNX's own evaluator does not know how."""
    from onnx.reference import ReferenceEvaluator

    graph = onnx.GraphProto(name="one", node=[node])
    graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name)
    graph.input.extend(map(onnx.helper.make_empty_tensor_value_info, inputs))
    alone = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, graph=graph)
    try:
        results = ReferenceEvaluator(alone).run(None, dict(inputs))
    except Exception:  # of any kind: then the importer sees the node, which may know it
        return [None]
    return [np.asarray(each) if isinstance(each, np.generic) else each for each in results]


def _size(shape: Any) -> int:
    return int(np.prod(list(shape), dtype=np.int64))
