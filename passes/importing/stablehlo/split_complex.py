"""``ipu-split-complex``: complex numbers in StableHLO as their real and imaginary parts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo import complex_functions as functions
from ipu_mlir.passes.importing.stablehlo.complex_functions import (
    Parts,
    compared,
    full,
    multiply,
    same,
    stablehlo_op,
)
from ipu_mlir.passes.importing.stablehlo.expand_linear_algebra import is_linear_algebra
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.rewriting import list_ops

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
    if op.name in _COMBINING:
        return len(op.results) == 1 and _combination(op) in _COMBINING[op.name]
    if op.name == "stablehlo.return":
        return is_splittable(op.parent.operation)
    if op.name == "stablehlo.custom_call":
        return is_linear_algebra(op) and "lapack_" in str(op.attributes["call_target_name"])
    return (
        op.name in _RULES
        or op.name in _WITH_BODIES
        or op.name in _PARTWISE
        or op.name in ("func.return", "func.call", "func.func", "stablehlo.composite")
    )


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
    blocks: list[ir.Block] = []

    def visit(ops: list[Any]) -> None:
        for view in ops:
            op = view.operation
            for region in op.regions if op.name not in _RULES else ():
                for inner in list(region.blocks):
                    _note_arguments(parts, inner, in_pairs=op.name == "stablehlo.sort")
                    blocks.append(inner)
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
    for inner in blocks:
        for number in reversed([n for n, argument in enumerate(inner.arguments) if is_complex(argument)]):
            inner.erase_argument(number)


def _note_arguments(parts: _Parts, block: ir.Block, in_pairs: bool) -> None:
    """Give ``block`` arguments for the parts of its complex ones, behind all others; ``in_pairs`` as a comparison has
    them, of each operand one element and the other."""
    complex_ones = list(filter(is_complex, block.arguments))
    step = 2 if in_pairs else 1
    for at in range(0, len(complex_ones), step):
        own = complex_ones[at : at + step]
        real, imaginary = ([block.add_argument(_part_type(x.type), block.owner.location) for x in own] for _ in "ri")
        for each in zip(own, real, imaginary, strict=True):
            parts.note(*each)


def _rewrite(parts: _Parts, op: ir.Operation) -> None:
    if op.name == "func.return":
        for number, value in enumerate(op.operands):
            if parts.has(value):
                op.operands[number] = _joined(*parts.of(value))
        return
    if op.name == "stablehlo.return":
        ir.Operation.create(op.name, [], _flat(parts, op.operands))
        return
    if op.name in _WITH_BODIES:
        _rewrite_with_bodies(parts, op)
        return
    if op.name in _PARTWISE:
        made = []
        for which in range(2):
            operands = [parts.of(value)[which] if parts.has(value) else value for value in op.operands]
            attributes = {name: op.attributes[name] for name in op.attributes}
            made.append(stablehlo_op(op.name, _part_type(op.results[0].type), operands, attributes))
        parts.note(op.results[0], *made)
        return
    if op.name == "stablehlo.custom_call":
        _call_on_pairs(parts, op)
        return
    found = _RULES[op.name](parts, op)
    if isinstance(found, tuple):
        parts.note(op.results[0], *found)
    else:
        op.results[0].replace_all_uses_with(found)


def _call_on_pairs(parts: _Parts, op: ir.Operation) -> None:
    """A call of LAPACK whose matrices have one dimension more, which ``ipu-expand-linear-algebra`` takes."""
    operands = [_joined(*parts.of(value)) if parts.has(value) else value for value in op.operands]
    types = [_pairs_type(value.type) if is_complex(value) else value.type for value in op.results]
    kept = ("call_target_name", "mhlo.backend_config", "backend_config", "api_version")
    attributes = {name: op.attributes[name] for name in kept if name in op.attributes}
    new = ir.Operation.create(op.name, types, operands, attributes)
    for old, found in zip(op.results, new.results, strict=True):
        if is_complex(old):
            parts.note(old, *_apart(found))
        else:
            old.replace_all_uses_with(found)


def _flat(parts: _Parts, values: Sequence[ir.Value]) -> list[ir.Value]:
    """``values`` with the parts of complex ones behind all others."""
    halves = [half for value in values if parts.has(value) for half in parts.of(value)]
    return [value for value in values if not parts.has(value)] + halves


def _rewrite_with_bodies(parts: _Parts, op: ir.Operation) -> None:
    """The same op on parts, with the bodies, which work on parts already."""
    plain = [value for value in op.results if not is_complex(value)]
    split = [value for value in op.results if is_complex(value)]
    types = [value.type for value in plain] + [_part_type(value.type) for value in split for _ in range(2)]
    attributes = {name: op.attributes[name] for name in op.attributes}
    new = ir.Operation.create(op.name, types, _flat(parts, op.operands), attributes, regions=len(op.regions))
    for source, dest in zip(op.regions, new.regions, strict=True):
        source.blocks[0].append_to(dest)
    halves = list(new.results)[len(plain) :]
    for value, found in zip(plain, new.results, strict=False):
        value.replace_all_uses_with(found)
    for value, real, imaginary in zip(split, halves[::2], halves[1::2], strict=True):
        parts.note(value, real, imaginary)


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
        taken = stablehlo_op("stablehlo.slice", one, [pairs], attributes)
        slices.append(
            stablehlo_op("stablehlo.reshape", ir.RankedTensorType.get(shape, pairs.type.element_type), [taken])
        )
    return slices[0], slices[1]


def _joined(real: ir.Value, imaginary: ir.Value) -> ir.Value:
    """Both parts in a last dimension."""
    shape, element = list(real.type.shape), real.type.element_type
    one = ir.RankedTensorType.get([*shape, 1], element)
    halves = [stablehlo_op("stablehlo.reshape", one, [each]) for each in (real, imaginary)]
    return upstream("tensor").ConcatOp(ir.RankedTensorType.get([*shape, 2], element), len(shape), halves).result


def _constant(parts: _Parts, op: ir.Operation) -> Parts:
    part = _part_type(op.results[0].type)
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


def _convert(parts: _Parts, op: ir.Operation) -> Any:
    (value,), kind = op.operands, op.results[0].type
    if not is_complex(op.results[0]):
        return stablehlo_op("stablehlo.convert", kind, [parts.of(value)[0]])
    part = _part_type(kind)
    if not parts.has(value):
        return stablehlo_op("stablehlo.convert", part, [value]), full(part, 0)
    real, imaginary = (stablehlo_op("stablehlo.convert", part, [each]) for each in parts.of(value))
    return real, imaginary


def _iota(op: ir.Operation) -> Parts:
    part = _part_type(op.results[0].type)
    return stablehlo_op(op.name, part, [], {"iota_dimension": op.attributes["iota_dimension"]}), full(part, 0)


def _compare(parts: _Parts, op: ir.Operation) -> ir.Value:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    equal = "EQ" in str(op.attributes["comparison_direction"])
    direction = "EQ" if equal else "NE"
    return same("and" if equal else "or", compared(a, c, direction), compared(b, d, direction))


def _dot(parts: _Parts, op: ir.Operation) -> Parts:
    (a, b), (c, d) = (parts.of(value) for value in op.operands)
    type_, attributes = _part_type(op.results[0].type), {name: op.attributes[name] for name in op.attributes}

    def product(x: ir.Value, y: ir.Value) -> ir.Value:
        return stablehlo_op(op.name, type_, [x, y], attributes)

    return same("subtract", product(a, c), product(b, d)), same("add", product(a, d), product(b, c))


_COMBINING = {
    "stablehlo.reduce": ("add", "multiply"),
    "stablehlo.reduce_window": ("add", "multiply"),
    "stablehlo.scatter": ("add", "the other"),
}
"""What the region of an op may do with two complex numbers."""


def _combination(op: ir.Operation) -> str:
    """What the region of ``op`` does with two numbers: the name of an op, or that it takes the other one."""
    block = op.regions[0].blocks[0]
    first, *others = [each.operation for each in block.operations]
    if not others:
        return "the other" if first.operands[0] == block.arguments[1] else ""
    return first.name.removeprefix("stablehlo.") if [each.name for each in others] == ["stablehlo.return"] else ""


def _combine(parts: _Parts, op: ir.Operation) -> Parts:
    """Part by part; a product of both at once."""
    kind, type_ = _combination(op), _part_type(op.results[0].type)
    scalar = ir.RankedTensorType.get([], type_.element_type)
    attributes = {name: op.attributes[name] for name in op.attributes}
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
    return stablehlo_op("stablehlo.transpose", type_, [value], {"permutation": ir.DenseI64ArrayAttr.get(order)})


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
_WITH_BODIES = frozenset(("stablehlo.case", "stablehlo.if", "stablehlo.sort", "stablehlo.while"))
"""Ops that carry, or compare, values of any type: the same on parts."""
_FUNCTIONS = (
    *(functions.cosine, functions.divide, functions.exponential, functions.exponential_minus_one, functions.log),
    *(functions.log_plus_one, functions.logistic, functions.multiply, functions.power, functions.rsqrt, functions.sign),
    *(functions.sine, functions.sqrt, functions.tan, functions.tanh),
)
_RULES: dict[str, Rule] = {
    **{f"stablehlo.{each.__name__}": _elementwise(each) for each in _FUNCTIONS},
    **dict.fromkeys(_COMBINING, _combine),
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
