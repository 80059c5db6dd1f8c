"""Nodes of ONNX that torch-mlir imports wrongly or not at all, as nodes that it imports right."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx

from ipu_mlir.frontends.of_onnx.sequences import SEQUENCE_OPS, int_constant, sequence_op

_OPS = frozenset(("Einsum", "SplitToSequence", *SEQUENCE_OPS))
_MOST = 256
"""Parts of a tensor that become values of their own."""


@dataclass(frozen=True)
class Known:
    """What is known of a model.

    Attributes:
        shapes: of the values whose sizes are all known.
        constants: integers that are constants.
    """

    shapes: Mapping[str, tuple[int, ...]]
    constants: Mapping[str, np.ndarray]


def rewritten(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model``, or a copy in which others stand in place of such nodes."""
    nodes = [node for graph in _graphs(model.graph) for node in graph.node]
    if not any(_wants(node) for node in nodes):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    known = _known(copy)
    for graph in _graphs(copy.graph):
        parts: dict[str, list[str]] = {}
        made = [new for node in graph.node for new in _instead_of(node, known, parts)]
        del graph.node[:]
        graph.node.extend(made)
    return copy


def _wants(node: onnx.NodeProto) -> bool:
    return node.op_type in _OPS and not node.domain


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """``graph`` and those inside of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _known(model: onnx.ModelProto) -> Known:
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except Exception:  # of any kind: the importer says what is wrong with it
        graph = model.graph
    shapes = {each.name: tuple(each.dims) for each in graph.initializer}
    for value in (*graph.input, *graph.value_info, *graph.output):
        kind = value.type.tensor_type
        if kind.HasField("shape") and all(size.HasField("dim_value") for size in kind.shape.dim):
            shapes[value.name] = tuple(size.dim_value for size in kind.shape.dim)
    held = [(each.name, each) for each in graph.initializer if each.data_type in (6, 7)]
    for node in graph.node:
        held += [
            (node.output[0], each.t) for each in node.attribute if node.op_type == "Constant" and each.HasField("t")
        ]
    return Known(shapes, {name: onnx.numpy_helper.to_array(value) for name, value in held})


def _instead_of(node: onnx.NodeProto, known: Known, parts: dict[str, list[str]]) -> list[onnx.NodeProto]:
    """The nodes in place of ``node``; ``parts`` are those of the sequences before it, whose parts are known."""
    if not _wants(node):
        return [node]
    if node.op_type == "Einsum":
        return _einsum(node) or [node]
    made = (
        _split(node, known, parts) if node.op_type == "SplitToSequence" else sequence_op(node, known.constants, parts)
    )
    return [node] if made is None else made


def explicit(equation: str) -> tuple[list[str], str]:
    """The operands and the result of an equation of Einsum, which has neither where it says none.

    >>> explicit("b...i, ij")
    (['b...i', 'ij'], '...bj')
    """
    left, arrow, result = equation.replace(" ", "").partition("->")
    operands = left.split(",")
    if not arrow:
        letters = Counter(left.replace(",", "").replace(".", ""))
        once = "".join(sorted(letter for letter, count in letters.items() if count == 1))
        result = ("..." if "..." in left else "") + once
    return operands, result


def pairwise(operands: list[str], result: str) -> list[tuple[str, str, str]]:
    """Two operands at a time, from the left: each step keeps the indices that a later one or the result has.

    >>> pairwise(["bi", "bj", "bk"], "ijk")
    [('bi', 'bj', 'bij'), ('bij', 'bk', 'ijk')]
    """
    first, steps = operands[0], []
    for number, second in enumerate(operands[1:], 2):
        later = "".join(operands[number:]) + result
        both = (first + second).replace(".", "")
        kept = "".join(letter for letter in dict.fromkeys(both) if letter in later)
        kept = ("..." if "." in first + second else "") + kept
        steps.append((first, second, result if number == len(operands) else kept))
        first = kept
    return steps


def _einsum(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    """Of more than two operands torch-mlir sums an index away after the first two, which others may have."""
    equation = next(each.s.decode() for each in node.attribute if each.name == "equation")
    operands, result = explicit(equation)
    if len(operands) != len(node.input):
        return []
    if len(operands) == 1:
        return [_einsum_node(node, list(node.input), f"{operands[0]}->{result}", node.output[0])]
    before, made = node.input[0], []
    for number, (first, second, kept) in enumerate(pairwise(operands, result), 1):
        last = number == len(operands) - 1
        name = node.output[0] if last else f"{node.output[0]}_of_{number + 1}"
        made.append(_einsum_node(node, [before, node.input[number]], f"{first},{second}->{kept}", name))
        before = name
    return made


def _einsum_node(node: onnx.NodeProto, inputs: list[str], equation: str, output: str) -> onnx.NodeProto:
    name = f"{node.name or 'Einsum'}:{equation}"
    return onnx.helper.make_node("Einsum", inputs, [output], name=name, equation=equation)


def _split(node: onnx.NodeProto, known: Known, parts: dict[str, list[str]]) -> list[onnx.NodeProto] | None:
    """Slices, which are the parts of the sequence."""
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    shape, (whole, output) = known.shapes.get(node.input[0]), (node.input[0], node.output[0])
    if shape is None:
        return None
    axis = attributes.get("axis", 0) % len(shape)
    sizes = _sizes(node, shape[axis], known)
    if sizes is None or len(sizes) > _MOST:
        return None
    squeezed = len(node.input) < 2 and not attributes.get("keepdims", 1)
    made, ends = [int_constant(f"{output}_axis", [axis])], np.cumsum([0, *sizes])
    parts[output] = [f"{output}_part{number}" for number in range(len(sizes))]
    for number, part in enumerate(parts[output]):
        place = [f"{part}_from", f"{part}_to"]
        made += [int_constant(name, [int(ends[number + n])]) for n, name in enumerate(place)]
        cut = f"{part}_kept" if squeezed else part
        made.append(onnx.helper.make_node("Slice", [whole, *place, f"{output}_axis"], [cut], name=cut))
        if squeezed:
            made.append(onnx.helper.make_node("Squeeze", [cut, f"{output}_axis"], [part], name=part))
    return [*made, onnx.helper.make_node("SequenceConstruct", parts[output], [output], name=node.name or output)]


def _sizes(node: onnx.NodeProto, whole: int, known: Known) -> list[int] | None:
    """The sizes of the parts; None if they are not known."""
    if len(node.input) < 2 or not node.input[1]:
        return [1] * whole
    split = known.constants.get(node.input[1])
    if split is None:
        return None
    if split.ndim:
        return [int(each) for each in split]
    each = int(split)
    return [min(each, whole - begin) for begin in range(0, whole, each)] if each > 0 else None
