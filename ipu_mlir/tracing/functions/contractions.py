"""Matrix products and ``einsum``: sums of products over shared dimensions."""

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.passes.support.linalg_builders import product_into
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.elementwise import astype
from ipu_mlir.tracing.emit import Index, Loop, filled, structured
from ipu_mlir.tracing.errors import TraceIndexError, TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.arranging import diagonal
from ipu_mlir.tracing.functions.reductions import reduce
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of
from ipu_mlir.tracing.pairs import complex_of, is_complex, part
from ipu_mlir.tracing.scalar_ops import BODIES
from ipu_mlir.tracing.views import transpose

_LETTERS = string.ascii_letters
_NAMED = {2: "matmul", 3: "batch_matmul"}


def matmul(left: Any, right: Any) -> Any:
    """``left @ right``: over the last dimension of ``left`` and the one but last of ``right``; batches broadcast.

    Raises:
        TraceValueError: the sizes that are summed over differ, or the batches do not broadcast.
    """
    trace = trace_of((left, right))
    left, right = tensor(trace, left), tensor(trace, right)
    name = f"matmul of {left} and {right}"
    if not left.shape or not right.shape:
        raise TraceValueError(f"{name}: a number cannot be multiplied as a matrix; use *")
    inner = right.shape[0] if len(right.shape) == 1 else right.shape[-2]
    if left.shape[-1] != inner:
        raise TraceValueError(
            f"{name}: the inner sizes {left.shape[-1]} and {inner} differ; "
            "transpose one of them (x.mT), or check the layout"
        )
    rows = left.shape[-2:-1]
    columns = right.shape[-1:] if len(right.shape) > 1 else ()
    try:
        batch = shapes.broadcast_shapes([left.shape[:-2], right.shape[:-2]])
    except ValueError as error:
        raise TraceValueError(f"{name}: {error}") from error
    letters = [f"b{place}" for place in range(len(batch))]
    m, n = ["m"] * len(rows), ["n"] * len(columns)
    left_names = [*_trailing(letters, left.shape[:-2]), *m, "k"]
    right_names = [*_trailing(letters, right.shape[:-2]), "k", *n]
    return contract(trace, "matmul", [(left, left_names), (right, right_names)], [*letters, *m, *n])


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """The sum over pairs of axes: the last ``axes`` of ``a`` with the first of ``b``, or two lists of axes."""
    trace = trace_of((a, b))
    left, right = tensor(trace, a), tensor(trace, b)
    if isinstance(axes, int | np.integer):
        if not 0 <= axes <= min(len(left.shape), len(right.shape)):
            raise TraceIndexError(f"tensordot of {left} and {right}: they do not both have {axes} axes")
        axes = (range(len(left.shape) - axes, len(left.shape)), range(axes))
    pairs = [[each] if isinstance(each, int) else list(each) for each in axes]
    left_axes = [shapes.normalize_axis(axis, len(left.shape)) for axis in pairs[0]]
    right_axes = [shapes.normalize_axis(axis, len(right.shape)) for axis in pairs[1]]
    left_names = [f"l{axis}" for axis in range(len(left.shape))]
    right_names = [f"r{axis}" for axis in range(len(right.shape))]
    if len(left_axes) != len(right_axes):
        raise TraceValueError(f"tensordot of {left} and {right}: the axes {pairs[0]} and {pairs[1]} are no pairs")
    for one, other in zip(left_axes, right_axes, strict=True):
        if left.shape[one] != right.shape[other]:
            raise TraceValueError(
                f"tensordot of {left} and {right}: axis {one} has {left.shape[one]} elements, axis {other}, "
                f"which goes with it, {right.shape[other]}"
            )
        right_names[other] = left_names[one]
    kept = [name for axis, name in enumerate(left_names) if axis not in left_axes]
    kept += [name for axis, name in enumerate(right_names) if axis not in right_axes]
    return contract(trace, "tensordot", [(left, left_names), (right, right_names)], kept)


def dot(a: Any, b: Any) -> Any:
    """``np.dot``: products of numbers, of vectors and matrices; the last axis with the one but last."""
    left_rank, right_rank = np.ndim(a), np.ndim(b)
    if left_rank == 0 or right_rank == 0:
        trace = trace_of((a, b))
        return tensor(trace, a) * tensor(trace, b)
    if right_rank <= 2 and left_rank <= 2:
        return matmul(a, b)
    return tensordot(a, b, ([left_rank - 1], [max(right_rank - 2, 0)]))


def einsum(subscripts: Any, *values: Any, optimize: Any = False) -> Any:
    """Einstein's sum. A letter that an operand has twice is that of its diagonal, ``...`` is what broadcasts.

    Subscripts may also be lists of numbers, one behind each operand and perhaps one for the result.

    More than two operands are taken from left to right.

    Raises:
        TraceValueError: the subscripts do not fit the operands. TraceTypeError: a form that is not supported.
    """
    if not isinstance(subscripts, str):
        subscripts, values = _with_letters((subscripts, *values))
    trace = trace_of(values)
    tensors = [tensor(trace, value) for value in values]
    name = f"einsum {subscripts!r} of {' and '.join(map(str, tensors))}"
    inputs, output = _parse_subscripts(name, subscripts, tensors)
    operands = [_diagonals(value, letters) for value, letters in zip(tensors, inputs, strict=True)]
    while len(operands) > 2:
        later = set(output).union(*(letters for _, letters in operands[2:]))
        letters = [letter for letter in dict.fromkeys(operands[0][1] + operands[1][1]) if letter in later]
        operands[:2] = [(contract(trace, "einsum", operands[:2], letters, name), letters)]
    if len(operands) == 2:
        return contract(trace, "einsum", operands, output, name)
    value, letters = operands[0]
    summed = [axis for axis, letter in enumerate(letters) if letter not in output]
    if summed:
        value = reduce("sum", value, summed, dtype=value.dtype)
    rest = [letter for letter in letters if letter in output]
    return transpose(value, [rest.index(letter) for letter in output])


def _with_letters(given: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The subscripts as text and the operands, of operands that each have a list of numbers behind them."""
    *pairs, output = given if len(given) % 2 else (*given, None)
    values, lists = pairs[::2], pairs[1::2]
    try:
        texts = [_text(each) for each in lists]
        result = "" if output is None else "->" + _text(output)
    except (TypeError, IndexError) as error:
        raise TraceTypeError(
            "einsum takes text such as 'ij,jk->ik' before the operands, or behind each a list of numbers "
            f"from 0 to {len(_LETTERS) - 1}"
        ) from error
    return ",".join(texts) + result, tuple(values)


def _text(numbers: Sequence[Any]) -> str:
    return "".join("..." if number is Ellipsis else _LETTERS[number] for number in numbers)


def _diagonals(value: Any, letters: list[str]) -> tuple[Any, list[str]]:
    """``value`` with one dimension for each of its letters."""
    while twice := next((each for each in letters if letters.count(each) > 1), None):
        first, second = [axis for axis, each in enumerate(letters) if each == twice][:2]
        if value.shape[first] != value.shape[second]:
            raise TraceValueError(
                f"einsum of {value}: {twice!r} has the sizes {value.shape[first]} and {value.shape[second]}"
            )
        value = diagonal(value, 0, first, second)
        letters = [each for axis, each in enumerate(letters) if axis not in (first, second)] + [twice]
    return value, letters


def contract(
    trace: Trace,
    name: str,
    operands: Sequence[tuple[Symbol, list[str]]],
    output: list[str],
    shown: str = "",
) -> Any:
    """The product of two tensors, summed over the dimensions that ``output`` does not name.

    Args:
        operands: two tensors, each with a name per dimension; a size of 1 broadcasts.
        output: names of the result's dimensions.
        shown: how errors call the operation.
    """
    dtype = common_dtype([value for value, _ in operands])
    converted = [(astype(value, dtype), names) for value, names in operands]
    sizes = _sizes(shown or name, converted)
    if dtype.kind == "c":
        (a, b), (c, d) = (
            [(part(whole, which), names) if is_complex(value) or which == 0 else None for which in (0, 1)]
            for (value, _), (whole, names) in zip(operands, converted, strict=True)
        )  # a real operand has no imaginary part to be multiplied

        def of(one: Any, other: Any) -> Any:
            return contract(trace, name, [one, other], output, shown) if one and other else None

        both = of(b, d)
        real = of(a, c) if both is None else of(a, c) - both
        parts = [each for each in (of(a, d), of(b, c)) if each is not None]
        return complex_of(real, parts[0] if len(parts) == 1 else parts[0] + parts[1])
    inputs = [_untransposed(value, names) for value, names in converted]
    if (named := _named_form(inputs, output, sizes)) is not None:
        return _emit_named(trace, named, [value for value, _ in inputs], tuple(sizes[each] for each in output), dtype)
    summed = [each for each in sizes if each not in output]
    order = [*output, *summed]
    loops = [Loop(sizes[each], "reduction" if each in summed else "parallel") for each in order]
    indexed = [(value, _index(value, names, sizes, order)) for value, names in inputs]
    multiply, add = (BODIES[each].for_kind(kind_of(dtype)) for each in ("multiply", "add"))
    assert multiply is not None and add is not None, "every element type has sums and products"

    def code(left: ir.Value, right: ir.Value, so_far: ir.Value) -> ir.Value:
        return add(so_far, multiply(left, right))

    return structured(trace, name, indexed, loops, tuple(range(len(output))), dtype, code, 0)


def _trailing(letters: list[str], shape: shapes.Shape) -> list[str]:
    return letters[len(letters) - len(shape) :]


def _sizes(shown: str, operands: Sequence[tuple[Symbol, list[str]]]) -> dict[str, int]:
    """The size of each named dimension.

    Raises:
        TraceValueError: two operands disagree.
    """
    sizes: dict[str, int] = {}
    for value, names in operands:
        for each, size in zip(names, value.shape, strict=True):
            known = sizes.setdefault(each, size)
            if known != size and 1 not in (known, size):
                raise TraceValueError(f"{shown}: dimension {each!r} has the sizes {known} and {size}")
            sizes[each] = size if known == 1 else known
    return sizes


def _index(value: Symbol, names: list[str], sizes: dict[str, int], order: list[str]) -> Index:
    """The index of ``value`` in loops over the dimensions ``order``."""
    pairs = zip(names, value.shape, strict=True)
    return tuple(order.index(each) if size == sizes[each] else None for each, size in pairs)


def _untransposed(value: Symbol, names: list[str]) -> tuple[Symbol, list[str]]:
    """The tensor that ``value`` is a transposition of, with its dimensions' names; a product needs no copy of it."""
    owner = value.value.owner
    if isinstance(owner, ir.Block) or owner.name != "linalg.transpose":
        return value, names
    order = list(ir.DenseI64ArrayAttr(owner.attributes["permutation"]))
    source = [names[order.index(axis)] for axis in range(len(order))]
    shape = tuple(value.shape[order.index(axis)] for axis in range(len(order)))
    return value.program.wrap(owner.operands[0], shape, value.dtype), source


def _named_form(inputs: Sequence[tuple[Symbol, list[str]]], output: list[str], sizes: dict[str, int]) -> str | None:
    """``matmul`` or ``batch_matmul`` where the product is exactly that."""
    (_, left_names), (_, right_names) = inputs
    name = _NAMED.get(len(output))
    if name is None or not len(left_names) == len(right_names) == len(output):
        return None
    *batch, m, n = output
    inner = left_names[-1]
    plain = inner not in output and left_names == [*batch, m, inner] and right_names == [*batch, inner, n]
    whole = all(size == sizes[each] for value, names in inputs for each, size in zip(names, value.shape, strict=True))
    return name if plain and whole and all(sizes.values()) else None


def _emit_named(trace: Trace, name: str, values: Sequence[Symbol], shape: shapes.Shape, dtype: np.dtype[Any]) -> Any:
    with trace.emit(name):
        left, right = (value.value for value in values)
        product = product_into(left, right, filled(shape, dtype, 0))
        return trace.wrap(product.results[0], shape, dtype)


def _parse_subscripts(name: str, subscripts: str, values: Sequence[Symbol]) -> tuple[list[list[str]], list[str]]:
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(values):
        raise TraceValueError(f"{name}: subscripts for {counted(len(texts), 'operand')}, got {len(values)}")
    inputs, widest = [], []
    for text, value in zip(texts, values, strict=True):
        named = len(text.replace("...", ""))
        more = len(value.shape) - named
        if more < 0 or (more and "..." not in text):
            raise TraceValueError(f"{name}: {text!r} names {counted(named, 'dimension')} of {value}")
        dots = [f"...{place}" for place in range(-more, 0)]
        widest = max(widest, dots, key=len)
        before, _, behind = text.partition("...")
        inputs.append([*before, *dots, *behind] if "..." in text else list(text))
    every = [letter for letters in inputs for letter in letters]
    if arrow:
        before, dots, behind = right.partition("...")
        output = [*before, *(widest if dots else ()), *behind]
    else:
        output = widest + sorted(letter for letter in set(every) - set(widest) if every.count(letter) == 1)
    if unknown := [letter for letter in output if letter not in every]:
        raise TraceValueError(f"{name}: the result names {unknown[0]!r}, which no operand has")
    return inputs, output
