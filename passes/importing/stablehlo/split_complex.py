"""``ipu-split-complex``: complex numbers in StableHLO as their real and imaginary parts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.rewriting import list_ops

Parts = tuple[ir.Value, ir.Value]
Rule = Callable[["_Parts", ir.Operation], Any]


@dataclass(frozen=True)
class SplitComplex(Pass):
    """Write what StableHLO does with complex numbers with their parts, and Fourier transforms as library codelets.

    Arguments and results of functions have one dimension more, the last: the real and the imaginary part.

    Needs:  StableHLO of static shapes, without calls.
    Leaves: no complex tensor but in ops that ``ipu-check-stablehlo`` refuses.
    """

    name = "ipu-split-complex"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                if any(is_complex(value) for op in list_ops(function) for value in (*op.operands, *op.results)):
                    _split(function)


def is_complex(value: Any) -> bool:
    return isinstance(getattr(value.type, "element_type", None), ir.ComplexType)


def is_splittable(op: ir.Operation) -> bool:
    """True if ``op``, one with complex numbers, can be written with their parts."""
    if op.name == "stablehlo.reduce":
        return _combines(op)
    if op.name == "stablehlo.return":
        return is_splittable(op.parent.operation)
    return op.name in _RULES or op.name in _PARTWISE or op.name in ("func.return", "func.call", "func.func")


class _Parts:
    """The parts of the complex values of one function."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Parts] = {}

    def has(self, value: ir.Value) -> bool:
        """True if ``value`` is complex, or was so before it became an argument of pairs."""
        return value in self._known or is_complex(value)

    def of(self, value: ir.Value) -> Parts:
        return self._known[value]

    def note(self, value: ir.Value, real: ir.Value, imaginary: ir.Value) -> None:
        self._known[value] = real, imaginary


def _split(function: ir.Operation) -> None:
    parts = _Parts()
    split: list[ir.Operation] = []

    def visit(ops: list[Any]) -> None:
        for view in ops:
            op = view.operation
            for region in op.regions if op.name not in _RULES else ():
                for inner in region.blocks:
                    visit(list(inner.operations))
            if any(map(parts.has, (*op.operands, *op.results))):
                with ir.InsertionPoint(op), op.location:
                    _rewrite(parts, op)
                if op.name != "func.return":
                    split.append(op)

    (block,) = function.regions[0].blocks
    ops = list(block.operations)
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for argument in block.arguments:
            if is_complex(argument):
                argument.set_type(_pairs_type(argument.type))
                parts.note(argument, *_apart(argument))
    visit(ops)
    kinds = [argument.type for argument in block.arguments], [value.type for value in ops[-1].operation.operands]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*kinds))
    for op in reversed(split):
        op.erase()


def _rewrite(parts: _Parts, op: ir.Operation) -> None:
    if op.name == "func.return":
        for number, value in enumerate(op.operands):
            if parts.has(value):
                op.operands[number] = _joined(*parts.of(value))
        return
    if op.name in _PARTWISE:
        made = []
        for which in range(2):
            operands = [parts.of(value)[which] if parts.has(value) else value for value in op.operands]
            attributes = {name: op.attributes[name] for name in op.attributes}
            made.append(_op(op.name, _part_type(op.results[0].type), operands, attributes))
        parts.note(op.results[0], *made)
        return
    found = _RULES[op.name](parts, op)
    if isinstance(found, tuple):
        parts.note(op.results[0], *found)
    else:
        op.results[0].replace_all_uses_with(found)


def _op(name: str, type_: ir.Type, operands: Sequence[ir.Value], attributes: dict[str, Any] | None = None) -> ir.Value:
    return ir.Operation.create(name, [type_], list(operands), attributes or {}).results[0]


def _same(name: str, *operands: ir.Value) -> ir.Value:
    """An op on elements of tensors of one type, of the dialect."""
    return _op(f"stablehlo.{name}", operands[0].type, operands)


def _part_type(kind: Any) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(kind.shape), ir.ComplexType(kind.element_type).element_type)


def _pairs_type(kind: Any) -> ir.RankedTensorType:
    return ir.RankedTensorType.get([*kind.shape, 2], ir.ComplexType(kind.element_type).element_type)


def _apart(pairs: ir.Value) -> Parts:
    """The two halves of the last dimension."""
    *shape, _ = pairs.type.shape
    slices = []
    for which in range(2):
        one = ir.RankedTensorType.get([*shape, 1], pairs.type.element_type)
        begin, end = [0] * len(shape) + [which], [*shape, which + 1]
        fields = {"start_indices": begin, "limit_indices": end, "strides": [1] * (len(shape) + 1)}
        attributes = {name: ir.DenseI64ArrayAttr.get(value) for name, value in fields.items()}
        taken = _op("stablehlo.slice", one, [pairs], attributes)
        slices.append(_op("stablehlo.reshape", ir.RankedTensorType.get(shape, pairs.type.element_type), [taken]))
    return slices[0], slices[1]


def _joined(real: ir.Value, imaginary: ir.Value) -> ir.Value:
    """Both parts in a last dimension."""
    shape, element = list(real.type.shape), real.type.element_type
    one = ir.RankedTensorType.get([*shape, 1], element)
    halves = [_op("stablehlo.reshape", one, [each]) for each in (real, imaginary)]
    return upstream("tensor").ConcatOp(ir.RankedTensorType.get([*shape, 2], element), len(shape), halves).result


def _full(type_: Any, number: float) -> ir.Value:
    value = ir.DenseElementsAttr.get_splat(type_, ir.FloatAttr.get(type_.element_type, number))
    return _op("stablehlo.constant", type_, [], {"value": value})


def _compared(first: ir.Value, second: ir.Value, direction: str) -> ir.Value:
    truths = ir.RankedTensorType.get(list(first.type.shape), ir.IntegerType.get_signless(1))
    attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return _op("stablehlo.compare", truths, [first, second], {"comparison_direction": attribute})


def _chosen(condition: ir.Value, yes: ir.Value, no: ir.Value) -> ir.Value:
    return _op("stablehlo.select", yes.type, [condition, yes, no])


def _constant(parts: _Parts, op: ir.Operation) -> Parts:
    part = _part_type(op.results[0].type)
    values = complex_elements(op.get_asm(), list(part.shape), 8 if isinstance(part.element_type, ir.F64Type) else 4)
    halves = (np.array(each, order="C") for each in (values.real, values.imag))
    real, imaginary = (
        _op("stablehlo.constant", part, [], {"value": ir.DenseElementsAttr.get(each)}) for each in halves
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


def _multiply(x: Parts, y: Parts) -> Parts:
    (a, b), (c, d) = x, y
    real = _same("subtract", _same("multiply", a, c), _same("multiply", b, d))
    return real, _same("add", _same("multiply", a, d), _same("multiply", b, c))


def _divide(x: Parts, y: Parts) -> Parts:
    """Scaled by the larger part of the divisor, so that squares do not overflow."""
    (a, b), (c, d) = x, y
    is_real = _compared(_same("abs", c), _same("abs", d), "GE")
    large, small = _chosen(is_real, c, d), _chosen(is_real, d, c)
    zero = _full(large.type, 0)
    ratio = _chosen(_compared(large, zero, "EQ"), zero, _same("divide", small, large))
    scale = _same("add", large, _same("multiply", small, ratio))
    one, other = _chosen(is_real, a, b), _chosen(is_real, b, a)
    real = _same("add", one, _same("multiply", other, ratio))
    difference = _same("subtract", other, _same("multiply", one, ratio))
    imaginary = _chosen(is_real, difference, _same("negate", difference))
    return _same("divide", real, scale), _same("divide", imaginary, scale)


def _length(x: Parts) -> ir.Value:
    """Scaled by the larger part, as ``hypot``."""
    first, second = (_same("abs", each) for each in x)
    large, small = _same("maximum", first, second), _same("minimum", first, second)
    ratio = _chosen(_compared(large, _full(large.type, 0), "EQ"), _full(large.type, 0), _same("divide", small, large))
    length = _same(
        "multiply", large, _same("sqrt", _same("add", _full(large.type, 1), _same("multiply", ratio, ratio)))
    )
    infinite = _compared(large, _full(large.type, float("inf")), "EQ")
    return _chosen(infinite, large, length)


def _exponential(x: Parts) -> Parts:
    length = _same("exponential", x[0])
    return _same("multiply", length, _same("cosine", x[1])), _same("multiply", length, _same("sine", x[1]))


def _convert(parts: _Parts, op: ir.Operation) -> Any:
    (value,), kind = op.operands, op.results[0].type
    if not is_complex(op.results[0]):
        return _op("stablehlo.convert", kind, [parts.of(value)[0]])
    part = _part_type(kind)
    if not parts.has(value):
        return _op("stablehlo.convert", part, [value]), _full(part, 0)
    real, imaginary = (_op("stablehlo.convert", part, [each]) for each in parts.of(value))
    return real, imaginary


def _compare(parts: _Parts, op: ir.Operation) -> ir.Value:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    equal = "EQ" in str(op.attributes["comparison_direction"])
    direction = "EQ" if equal else "NE"
    return _same("and" if equal else "or", _compared(a, c, direction), _compared(b, d, direction))


def _dot(parts: _Parts, op: ir.Operation) -> Parts:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    type_, attributes = _part_type(op.results[0].type), {name: op.attributes[name] for name in op.attributes}

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return _op(op.name, type_, [x, y], attributes)

    return _same("subtract", product(a, c), product(b, d)), _same("add", product(a, d), product(b, c))


def _combines(op: ir.Operation) -> bool:
    """True if a reduction adds, or multiplies."""
    first, *others = [each.operation.name for each in op.regions[0].blocks[0].operations]
    known = first in ("stablehlo.add", "stablehlo.multiply") and others == ["stablehlo.return"]
    return len(op.results) == 1 and known


def _reduce(parts: _Parts, op: ir.Operation) -> Parts:
    """A sum of each part; a product of both at once."""
    values, initial = (parts.of(value) for value in op.operands)
    type_ = _part_type(op.results[0].type)
    scalar = ir.RankedTensorType.get([], type_.element_type)
    adds = op.regions[0].blocks[0].operations[0].operation.name == "stablehlo.add"
    made: list[ir.Value] = []
    for which in ((0,), (1,)) if adds else ((0, 1),):
        operands = [*(values[each] for each in which), *(initial[each] for each in which)]
        attributes = {name: op.attributes[name] for name in op.attributes}
        reduction = ir.Operation.create(op.name, [type_] * len(which), operands, attributes, regions=1)
        count = len(operands)
        block = reduction.regions[0].blocks.append(*[scalar] * count, arg_locs=[op.location] * count)
        with ir.InsertionPoint(block):
            a = list(block.arguments)
            found = [_same("add", *a)] if adds else list(_multiply((a[0], a[1]), (a[2], a[3])))
            ir.Operation.create("stablehlo.return", [], found)
        made += reduction.results
    return made[0], made[1]


def _fft(parts: _Parts, op: ir.Operation) -> Any:
    """Dimension after dimension, the last one first, or last where it becomes real."""
    kind = str(op.attributes["fft_type"])
    lengths = list(ir.DenseI64ArrayAttr(op.attributes["fft_length"]))
    (value,) = op.operands
    rank = len(op.results[0].type.shape)
    axes = list(range(rank - len(lengths), rank))
    current = _joined(*parts.of(value)) if parts.has(value) else value
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
    return _apart(current)


def _along(pairs: ir.Value, axis: int, name: str) -> ir.Value:
    """A transform along one dimension of pairs."""
    rank = len(pairs.type.shape)
    order = list(range(rank))
    order[axis], order[rank - 2] = rank - 2, axis
    turned = _transposed(pairs, order)
    (found,) = call_codelet(name, [turned], [turned.type.shape], [turned.type.element_type])
    return _transposed(found, order)


def _transposed(value: ir.Value, order: list[int]) -> ir.Value:
    if order == sorted(order):
        return value
    type_ = ir.RankedTensorType.get([value.type.shape[axis] for axis in order], value.type.element_type)
    return _op("stablehlo.transpose", type_, [value], {"permutation": ir.DenseI64ArrayAttr.get(order)})


def _elementwise(function: Callable[..., Any]) -> Rule:
    return lambda parts, op: function(*(parts.of(value) for value in op.operands))


_PARTWISE = frozenset(
    (
        "stablehlo.add",
        "stablehlo.broadcast_in_dim",
        "stablehlo.concatenate",
        "stablehlo.dynamic_slice",
        "stablehlo.dynamic_update_slice",
        "stablehlo.gather",
        "stablehlo.negate",
        "stablehlo.pad",
        "stablehlo.reshape",
        "stablehlo.reverse",
        "stablehlo.select",
        "stablehlo.slice",
        "stablehlo.subtract",
        "stablehlo.transpose",
        "tensor.concat",
    )
)
"""Ops that do with each part what they do with the whole."""
_RULES: dict[str, Rule] = {
    "stablehlo.abs": _elementwise(_length),
    "stablehlo.compare": _compare,
    "stablehlo.complex": lambda parts, op: tuple(op.operands),
    "stablehlo.constant": _constant,
    "stablehlo.convert": _convert,
    "stablehlo.divide": _elementwise(_divide),
    "stablehlo.dot_general": _dot,
    "stablehlo.exponential": _elementwise(_exponential),
    "stablehlo.fft": _fft,
    "stablehlo.imag": _elementwise(lambda x: x[1]),
    "stablehlo.multiply": _elementwise(_multiply),
    "stablehlo.real": _elementwise(lambda x: x[0]),
    "stablehlo.reduce": _reduce,
}
"""What an op gives: the parts of its complex result, or its real one."""
