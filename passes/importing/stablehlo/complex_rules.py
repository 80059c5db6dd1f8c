"""Ops of StableHLO on complex numbers, as ops on their parts."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.stablehlo import complex_functions as functions
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op, transposed
from ipu_mlir.passes.importing.stablehlo.complex_functions import Parts, compared, multiply, same
from ipu_mlir.passes.importing.stablehlo.complex_parts import ComplexParts, apart, is_complex, joined, part_type
from ipu_mlir.passes.support.codelet_calls import call_codelet

Rule = Callable[[ComplexParts, ir.Operation], Any]


def _constant(parts: ComplexParts, op: ir.Operation) -> Parts:
    part = part_type(op.results[0].type)
    values = complex_elements(op.get_asm(), list(part.shape), 8 if isinstance(part.element_type, ir.F64Type) else 4)
    halves = (np.array(each, order="C") for each in (values.real, values.imag))
    real, imaginary = (
        stablehlo_op("stablehlo.constant", part, [], {"value": ir.DenseElementsAttr.get(each)}) for each in halves
    )
    return real, imaginary


def complex_elements(text: str, shape: Sequence[int], part_bytes: int) -> np.ndarray[Any, Any]:
    """The elements of ``dense<...>`` in ``text``: the bindings have none of complex type.

    >>> complex_elements("dense<[(1.0,-2.5),(0x7F800000,0.0)]> : tensor<2xcomplex<f32>>", [2], 4)
    array([ 1.-2.5j, inf+0.j ], dtype=complex64)
    >>> complex_elements("dense<(1.0,0.0)> : tensor<2xcomplex<f64>>", [2], 8)
    array([1.+0.j, 1.+0.j])
    """
    dtype = np.dtype(f"c{2 * part_bytes}")
    content = text[text.index("dense<") + len("dense<") : text.index("> : tensor<")]
    if content.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(content[3:-1]), dtype).reshape(shape)

    def number(written: str) -> Any:
        if written.startswith("0x"):
            return np.array(int(written, 16), f"u{part_bytes}").view(f"f{part_bytes}")
        return float(written)

    pairs = [[number(each.strip()) for each in pair.split(",")] for pair in re.findall(r"\(([^)]*)\)", content)]
    numbers = np.array(pairs, f"f{part_bytes}").reshape(-1).view(dtype)
    return np.broadcast_to(numbers[0], shape) if len(numbers) == 1 else numbers.reshape(shape)


def _convert(parts: ComplexParts, op: ir.Operation) -> Any:
    (value,), kind = op.operands, op.results[0].type
    if not is_complex(op.results[0]):
        return stablehlo_op("stablehlo.convert", kind, [parts.of(value)[0]])
    part = part_type(kind)
    if not parts.has(value):
        return stablehlo_op("stablehlo.convert", part, [value]), full(part, 0)
    real, imaginary = (stablehlo_op("stablehlo.convert", part, [each]) for each in parts.of(value))
    return real, imaginary


def _iota(op: ir.Operation) -> Parts:
    part = part_type(op.results[0].type)
    return stablehlo_op(op.name, part, [], {"iota_dimension": op.attributes["iota_dimension"]}), full(part, 0)


def _compare(parts: ComplexParts, op: ir.Operation) -> ir.Value:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    equal = "EQ" in str(op.attributes["comparison_direction"])
    direction = "EQ" if equal else "NE"
    return same("and" if equal else "or", compared(a, c, direction), compared(b, d, direction))


def _dot(parts: ComplexParts, op: ir.Operation) -> Parts:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    type_, attributes = part_type(op.results[0].type), dict(op.attributes)

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return stablehlo_op(op.name, type_, [x, y], attributes)

    return same("subtract", product(a, c), product(b, d)), same("add", product(a, d), product(b, c))


COMBINING = {
    "stablehlo.reduce": ("add", "multiply"),
    "stablehlo.reduce_window": ("add", "multiply"),
    "stablehlo.scatter": ("add", "the other"),
}
"""What the region of an op may do with two complex numbers."""


def combination(op: ir.Operation) -> str:
    """The name of the op that the region of ``op`` does with two numbers, or that it takes the other one."""
    block = op.regions[0].blocks[0]
    first, *others = [each.operation for each in block.operations]
    if not others:
        return "the other" if first.operands[0] == block.arguments[1] else ""
    return first.name.removeprefix("stablehlo.") if [each.name for each in others] == ["stablehlo.return"] else ""


def _combine(parts: ComplexParts, op: ir.Operation) -> Parts:
    """Part by part; a product of both at once."""
    kind, type_ = combination(op), part_type(op.results[0].type)
    scalar = ir.RankedTensorType.get([], type_.element_type)
    attributes = dict(op.attributes)
    made: list[ir.Value] = []
    for which in ((0, 1),) if kind == "multiply" else ((0,), (1,)):
        sides = [[parts.of(value)[each] for each in which] if parts.has(value) else [value] for value in op.operands]
        operands = [value for side in sides for value in side]
        new = ir.Operation.create(op.name, [type_] * len(which), operands, attributes, regions=1)
        count = 2 * len(which)
        block = new.regions[0].blocks.append(*[scalar] * count, arg_locs=[op.location] * count)
        with ir.InsertionPoint(block):
            a = list(block.arguments)
            product = kind == "multiply" and multiply((a[0], a[1]), (a[2], a[3]))
            found = list(product) if product else [same("add", *a) if kind == "add" else a[1]]
            ir.Operation.create("stablehlo.return", [], found)
        made += new.results
    return made[0], made[1]


def _fft(parts: ComplexParts, op: ir.Operation) -> Any:
    """Dimension after dimension, the last one first, or last where it becomes real."""
    kind = str(op.attributes["fft_type"])
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    (value,) = op.operands
    rank = len(op.results[0].type.shape)
    axes = list(range(rank - len(lengths), rank))
    current = joined(*parts.of(value)) if parts.has(value) else value
    if "IRFFT" in kind:
        for axis in axes[:-1]:
            current = _along(current, axis, "ifft")
        *stack, _, _ = current.type.shape
        name = "irfft_odd" if lengths[-1] % 2 else "irfft"
        return call_codelet(name, [current], [[*stack, lengths[-1]]], [current.type.element_type])[0]
    if "RFFT" in kind:
        *stack, size = current.type.shape
        current = call_codelet("rfft", [current], [[*stack, size // 2 + 1, 2]], [current.type.element_type])[0]
        axes = axes[:-1]
    for axis in reversed(axes):
        current = _along(current, axis, "ifft" if "IFFT" in kind else "fft")
    return apart(current)


def _along(pairs: ir.Value, axis: int, name: str) -> ir.Value:
    """A transform along one dimension of pairs."""
    rank = len(pairs.type.shape)
    order = list(range(rank))
    order[axis], order[rank - 2] = rank - 2, axis
    turned = transposed(pairs, order)
    (found,) = call_codelet(name, [turned], [turned.type.shape], [turned.type.element_type])
    return transposed(found, order)


def _elementwise(function: Callable[..., Any]) -> Rule:
    return lambda parts, op: function(*(parts.of(value) for value in op.operands))


_FUNCTIONS = (
    *(functions.cosine, functions.divide, functions.exponential, functions.exponential_minus_one, functions.log),
    *(functions.log_plus_one, functions.logistic, functions.multiply, functions.power, functions.rsqrt, functions.sign),
    *(functions.sine, functions.sqrt, functions.tan, functions.tanh),
)
RULES: dict[str, Rule] = {
    **{f"stablehlo.{each.__name__}": _elementwise(each) for each in _FUNCTIONS},
    **dict.fromkeys(COMBINING, _combine),
    "stablehlo.abs": _elementwise(functions.length),
    "stablehlo.compare": _compare,
    "stablehlo.complex": lambda parts, op: tuple(op.operands),
    "stablehlo.constant": _constant,
    "stablehlo.convert": _convert,
    "stablehlo.dot_general": _dot,
    "stablehlo.fft": _fft,
    "stablehlo.iota": lambda parts, op: _iota(op),
    "stablehlo.imag": _elementwise(lambda x: x[1]),
    "stablehlo.real": _elementwise(lambda x: x[0]),
}
"""What an op gives: the parts of its complex result, or its real one."""
