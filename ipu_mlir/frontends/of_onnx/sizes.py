"""Inputs of ONNX models that decide about sizes: as parts of the program their values make it one of fixed sizes."""

from collections.abc import Iterator, Mapping

import numpy as np
import onnx

from ipu_mlir.dialects.support.errors import CompileError, RunError

_DECIDING: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        [
            f"Reduce{kind}"
            for kind in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
        ],
        (1,),
    ),
    **dict.fromkeys(("BlackmanWindow", "ConstantOfShape", "HammingWindow", "HannWindow"), (0,)),
    **dict.fromkeys(("CenterCropPad", "Expand", "OneHot", "Reshape", "Split"), (1,)),
    **dict.fromkeys(("Squeeze", "Tile", "TopK", "Unsqueeze"), (1,)),
    "AffineGrid": (1,),
    "Col2Im": (1, 2),
    "Compress": (1,),
    "CumProd": (1,),
    "CumSum": (1,),
    "DFT": (1, 2),
    "Dropout": (1, 2),
    "MaxUnpool": (2,),
    "MelWeightMatrix": (0, 1, 2, 3, 4),
    "Pad": (1, 3),
    "Range": (0, 1, 2),
    "Resize": (1, 2, 3),
    "Slice": (1, 2, 3, 4),
    "SplitToSequence": (1,),
    "STFT": (1, 3),
    "Trilu": (1,),
    "Upsample": (1,),
}
"""By op, the operands whose values say how large results are, or parts on the way to them."""
_ONLY_SIZES = frozenset(("Shape", "Size"))
_INTEGERS = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)


def deciding_inputs(model: onnx.ModelProto) -> list[str]:
    """Names of inputs of rank 1 at most that sizes depend on: integers, single floats, and what an op itself takes."""
    weights = {each.name for each in model.graph.initializer}
    nodes = list(_nodes(model.graph))
    made_by = {name: node for node in nodes for name in node.output}
    seen: set[str] = set()
    pending = [name for node in nodes for name in _deciding_values(node)]
    operands = frozenset(pending)
    while pending:
        name = pending.pop()
        node = made_by.get(name)
        if name not in seen and node is not None and node.op_type not in _ONLY_SIZES:
            pending += node.input
            pending += (each.name for attribute in node.attribute for each in attribute.g.output)
        seen.add(name)
    types = {each.name: each.type.tensor_type for each in model.graph.input if each.name not in weights}
    return [
        name
        for name, kind in types.items()
        if name in seen and kind.HasField("shape") and len(kind.shape.dim) <= 1
        if kind.elem_type in (_INTEGERS if kind.shape.dim else _INTEGERS + _FLOATS) or name in operands
    ]


def with_values(model: onnx.ModelProto, values: Mapping[str, np.ndarray]) -> onnx.ModelProto:
    """``model`` with inputs as constants, and with all elements of sparse ones."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    sparse = {each.values.name: _dense(each) for each in model.graph.sparse_initializer}
    del copy.graph.sparse_initializer[:]
    for name, value in (sparse | dict(values)).items():
        copy.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    kept = [each for each in copy.graph.input if each.name not in values]
    del copy.graph.input[:]
    copy.graph.input.extend(kept)
    return copy


def _dense(given: onnx.SparseTensorProto) -> np.ndarray:
    values, places = onnx.numpy_helper.to_array(given.values), onnx.numpy_helper.to_array(given.indices)
    whole = np.zeros(tuple(given.dims), values.dtype)
    whole[tuple(places.T) if places.ndim > 1 else np.unravel_index(places, whole.shape)] = values
    return whole


def named_sizes(
    inputs: Mapping[str, onnx.ValueInfoProto], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, str, int]]:
    """By input, a name that stands in its shape and the size there is in ``shapes``.

    Raises:
        RunError: an input has another shape than the model says, or one name stands for two sizes.
    """
    known: dict[str, tuple[int, str]] = {}
    for name, shape in shapes.items():
        kind = inputs[name].type.tensor_type
        if not kind.HasField("shape"):
            continue
        expected = _said(inputs[name])
        text = f"input {name} has shape {list(shape)}, the model says [{sizes_as_text(inputs[name])}]"
        if len(expected) != len(shape):
            raise RunError(text)
        for size, wanted in zip(shape, expected, strict=True):
            if isinstance(wanted, int) and wanted != size:
                raise RunError(text)
            if isinstance(wanted, str) and wanted != "?":
                before, where = known.setdefault(wanted, (size, name))
                if before != size:
                    raise RunError(f"{text}, and {wanted} is {before} in input {where}")
                yield name, wanted, size


def _said(value: onnx.ValueInfoProto) -> list[int | str]:
    """The sizes that a model says, or names for them."""
    shape = value.type.tensor_type.shape
    return [each.dim_param or (each.dim_value if each.HasField("dim_value") else "?") for each in shape.dim]


def sizes_as_text(value: onnx.ValueInfoProto) -> str:
    """As the model has them, such as ``batch, 3``."""
    return ", ".join(map(str, _said(value)))


def with_sizes(model: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]]) -> onnx.ModelProto:
    """``model`` for inputs of ``shapes``: the names of sizes are numbers wherever they stand.

    Raises:
        CompileError: the inputs of the model have other shapes.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    inputs = {each.name: each for each in copy.graph.input}
    try:
        known = {name: size for _, name, size in named_sizes(inputs, shapes)}
    except RunError as error:
        raise CompileError(str(error)) from error
    for name, shape in shapes.items():
        kind = inputs[name].type.tensor_type
        if not kind.HasField("shape"):
            kind.shape.dim.extend(onnx.TensorShapeProto.Dimension() for _ in shape)
            kind.shape.SetInParent()
        for dimension, size in zip(kind.shape.dim, shape, strict=True):
            dimension.dim_value = size
    for value in (*copy.graph.input, *copy.graph.output, *copy.graph.value_info):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param in known:
                dimension.dim_value = known[dimension.dim_param]
    return copy


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Those of ``graph`` and inside of them."""
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g)


def _deciding_values(node: onnx.NodeProto) -> Iterator[str]:
    places = _DECIDING.get(node.op_type, ())
    if node.op_type == "Loop":
        (body,) = (each.g for each in node.attribute if each.name == "body")
        has_rows = len(body.output) - 1 > len(node.input) - 2
        places = (0, 1) if has_rows else ()
    yield from (node.input[at] for at in places if at < len(node.input))
