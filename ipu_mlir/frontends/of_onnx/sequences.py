"""Sequences of ONNX whose parts are known: ops on them are ops on the parts, or none."""

from collections.abc import Mapping

import numpy as np
import onnx

SEQUENCE_OPS = (
    *("ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert"),
    "SequenceLength",
)


def sequence_op(
    node: onnx.NodeProto, constants: Mapping[str, np.ndarray], parts: dict[str, list[str]]
) -> list[onnx.NodeProto] | None:
    """The nodes in place of ``node``; None where it stays, since a sequence or a place in it is not known.

    Args:
        constants: integers that are known.
        parts: of the sequences before ``node``; that of its result is added.
    """
    output, inputs = node.output[0], list(node.input)
    if node.op_type == "SequenceEmpty":
        parts[output] = []
        return [node]
    if node.op_type == "SequenceConstruct":
        parts[output] = inputs
        return [node]
    before = parts.get(inputs[0])
    if before is None:
        return None
    if node.op_type == "SequenceLength":
        return [int_constant(output, len(before))]
    if node.op_type == "ConcatFromSequence":
        return _put_together(node, before)
    position = inputs[2:] if node.op_type == "SequenceInsert" else inputs[1:]
    at = _place(position, constants, len(before) if node.op_type == "SequenceInsert" else len(before) - 1, len(before))
    if at is None:
        return None
    if node.op_type == "SequenceAt":
        return [onnx.helper.make_node("Identity", [before[at]], [output], name=node.name)]
    inserted = [inputs[1]] if node.op_type == "SequenceInsert" else []
    parts[output] = [*before[:at], *inserted, *before[at + (not inserted) :]]
    if not parts[output]:
        return [onnx.helper.make_node("SequenceEmpty", [], [output], name=node.name)]
    return [onnx.helper.make_node("SequenceConstruct", parts[output], [output], name=node.name)]


def _place(position: list[str], constants: Mapping[str, np.ndarray], last: int, count: int) -> int | None:
    """The place in a sequence of ``count`` parts that a constant names, from its end if negative."""
    if not position or not position[0]:
        return last
    known = constants.get(position[0])
    if known is None or known.size != 1:
        return None
    at = int(known.reshape(-1)[0])
    at = at + count if at < 0 else at
    return at if 0 <= at <= last else None


def _put_together(node: onnx.NodeProto, parts: list[str]) -> list[onnx.NodeProto] | None:
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    axis, output = attributes["axis"], node.output[0]
    if not parts:
        return None
    if not attributes.get("new_axis", 0):
        return [onnx.helper.make_node("Concat", parts, [output], name=node.name, axis=axis)]
    names = [f"{output}_row{number}" for number in range(len(parts))]
    made = [int_constant(f"{output}_axis", [axis])]
    for part, name in zip(parts, names, strict=True):
        made.append(onnx.helper.make_node("Unsqueeze", [part, f"{output}_axis"], [name], name=name))
    return [*made, onnx.helper.make_node("Concat", names, [output], name=node.name, axis=axis)]


def int_constant(name: str, value: int | list[int]) -> onnx.NodeProto:
    """The node of a constant of int64."""
    return onnx.helper.make_node("Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(value, np.int64)))
