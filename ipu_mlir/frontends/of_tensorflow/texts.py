"""Programs as TensorFlow writes them in StableHLO, and what it says of those that it cannot write."""

import re
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.framework.tensor_util import constant_value

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_tensorflow.source_lines import line_of, ops_of, with_user_lines

_TRUTHS = re.compile(r'dense<"0x(\w+)"> : tensor<((?:\d+x)+)i1>')
"""Many constants of i1, a bit each from the lowest one: TensorFlow's version of MLIR writes them so."""
_UNSUPPORTED = re.compile(r"unsupported operations.*?: (\w+) \(No registered.*?\{\{node ([^}]+)\}\}", re.DOTALL)
"""The first op that XLA does not have, and its name."""
_NODE = re.compile(r"\{\{node ([^}]+)\}\}|node `(?:PartitionedCall/)?([^`]+)` with op")
"""The name of an op in other messages of XLA."""
_ALIASES = re.compile(r"^(#loc\d+) = (.*)$", re.MULTILINE)
_PARTS = re.compile(r'"([^"]+)"|(#loc\d+)')
_SLICES = re.compile(r"stablehlo\.slice .*\(tensor<[^)]*bounds<.* loc\((#loc\d+)\)$", re.MULTILINE)
"""Where slices of tensors are whose size is bounded alone."""
OUTSIDE = "ipu.scopes.outside_compilation_scope()"
"""Where programs of the guide let the host compute."""
_WAYS = (
    (
        re.compile("Dataset|Iterator"),
        "make iter(dataset) before, and take elements by next(iterator) in a loop of tf.range",
        "give elements of it as arguments",
    ),
    (
        re.compile("^Print|^StringFormat"),
        f"print by ipu.internal_ops.print_tensor, or in {OUTSIDE}",
        "return what it is to print",
    ),
    (re.compile("String|Regex|Table"), *["look text and numbers up before, as in dataset.map"] * 2),
    (re.compile("LogMatrix"), *["call it by its whole name, tf.linalg.slogdet"] * 2),
    (re.compile("Ragged|Sparse"), *["compute with dense tensors, and a mask of what counts"] * 2),
    (
        re.compile(""),
        f"let the host do it in {OUTSIDE}",
        "write it in other ops, or compute it outside of the function",
    ),
)
"""By words in the name of an op, what to do instead of it: in programs of the guide, and in functions alone."""


def as_mlir_reads(text: str, graph: Any) -> str:
    """What TensorFlow writes of ``graph``, with the lines of the user, and constants of i1 as a byte each."""
    return _TRUTHS.sub(_in_bytes, with_user_lines(text, graph))


def _in_bytes(constant: re.Match[str]) -> str:
    digits, sizes = constant.groups()
    number = prod(map(int, sizes.split("x")[:-1]))
    if len(digits) == 2 * number:
        return constant[0]
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8), count=number, bitorder="little")
    return f'dense<"0x{bits.tobytes().hex()}"> : tensor<{sizes}i1>'


def refuse_arrays_that_grow(graph: FuncGraph, name: str, written_in: Any) -> None:
    """Refuse arrays that are made without an element and grow, of which XLA drops all that is written.

    Raises:
        CompileError: there is one.
    """
    ops = [op for _, op in ops_of(graph)]
    empty = next((op for op in ops if op.type == "TensorListReserve" and constant_value(op.inputs[1]) == 0), None)
    writes = (op for op in ops if op.type == "TensorListSetItem")
    if empty is not None and any(op.get_attr("resize_if_index_out_of_bounds") for op in writes):
        raise CompileError(
            f"TensorFlow cannot compile {name}: a TensorArray of 0 elements grows{_at(empty, written_in)}, and "
            "those of programs have a fixed size; give it its size"
        )


def refuse_slices_from_the_end(text: str, graph: FuncGraph, name: str, written_in: Any) -> None:
    """Refuse slices that count from the end of what is as large as values say: XLA counts from its largest size.

    Raises:
        CompileError: there is one.
    """
    aliases = dict(_ALIASES.findall(text))

    def names(alias: str) -> Iterator[str]:
        for quoted, other in _PARTS.findall(aliases[alias]):
            yield from names(other) if other else quoted.split(";")

    sliced = [each for alias in _SLICES.findall(text) for each in names(alias)]
    for _, op in ops_of(graph) if sliced else ():
        is_sliced = any(each == op.name or each.endswith(f"/{op.name}") for each in sliced)
        if is_sliced and op.type == "StridedSlice" and _counts_from_unknown_end(op):
            raise CompileError(
                f"TensorFlow cannot compile {name}: a slice{_at(op, written_in)} counts from the end of a tensor "
                "whose size depends on data; count from its beginning, as in tf.gather(x, tf.shape(x)[0] - 1)"
            )


def _at(op: Any, written_in: Any) -> str:
    line = line_of(op.name, written_in)
    return f" ({line})" if line else ""


def _counts_from_unknown_end(op: Any) -> bool:
    """True if a bound of a slice is negative along a dimension of unknown size."""
    shape, *bounds = op.inputs[0].shape, *map(constant_value, op.inputs[1:3])
    if shape.rank is None or any(each is None for each in bounds):
        return False
    masks = {each: op.get_attr(f"{each}_mask") for each in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    axis, entries = 0, len(bounds[0])
    for entry in range(entries):
        is_set = {each: bool(mask >> entry & 1) for each, mask in masks.items()}
        if is_set["ellipsis"]:
            axis = shape.rank - sum(not masks["new_axis"] >> later & 1 for later in range(entry + 1, entries))
        elif not is_set["new_axis"]:
            begin, end = (each[entry] < 0 for each in bounds)
            from_end = (
                begin if is_set["shrink_axis"] else (begin and not is_set["begin"]) or (end and not is_set["end"])
            )
            if shape[axis] is None and from_end:
                return True
            axis += 1
    return False


def why(error: Exception, graph: Any, outside: str = "") -> str:
    """What is wrong, on one line where it is an op that XLA does not have.

    Args:
        graph: has the lines of the user.
        outside: where the host can compute, if it can.
    """
    text = str(error)
    if "requires a fixed tensor list size" in text:
        return (
            "a gradient goes through a loop, or a TensorArray through one, and nobody knows its rounds at most; give "
            "the loop maximum_iterations, or a number of iterations that is no result of the program"
        )
    found = _UNSUPPORTED.search(text)
    if found is None and "is_initialized" in text:  # what XLA says of tables
        tables = ((op.type, name) for name, op in ops_of(graph) if op.type.startswith("LookupTable"))
        kind, node = next(tables, (None, None))
    else:
        kind, node = found.groups() if found else (None, None)
    if kind is None or node is None:
        lines = (line_of(one or other, graph) for one, other in _NODE.findall(text))
        line = next((line for line in lines if line is not None), None)
        said = re.split(r"\n\n|\n\t", text.removeprefix("Failed getting HLO text: '"))[0].strip().removesuffix("'")
        return said if line is None else f"{said.removesuffix('.')} ({line})"
    line = line_of(node, graph)
    where = "" if line is None else f" ({line})"
    if kind == "_Retval":
        return "it gives text or another value of the host, and programs give numbers"
    way = next(there if outside else alone for words, there, alone in _WAYS if words.search(kind))
    return f"programs have no op {kind!r}{where}; {way}"
