"""Emits one structured op at a time, from plain descriptions of its loops and operands."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.specs.tensor_types import element_type, sizes_of
from ipu_mlir.tracing.graph import Symbol, Trace, element_attribute
from ipu_mlir.tracing.numbers import known_number, number_of, tensor_of_number

arith, cf, tensor = upstream("arith"), upstream("cf"), upstream("tensor")


@dataclass(frozen=True)
class Backward:
    """A dimension of ``size`` elements that a loop runs over from the last to the first."""

    loop: int
    size: int


@dataclass(frozen=True)
class Sum:
    """A dimension that several loops run over together, as a window that slides.

    Attributes:
        loops: whose counters are added.
        steps: how far each of them goes at a time; 1 if they are not given.
    """

    loops: tuple[int, ...]
    steps: tuple[int, ...] = ()


Index = tuple[int | Backward | Sum | None, ...]
"""Per dimension of an operand the loop that runs over it; None stands for element 0, which a broadcast repeats."""


@dataclass(frozen=True)
class Loop:
    """One loop of a structured op."""

    size: int
    kind: Literal["parallel", "reduction"] = "parallel"


def structured(
    trace: Trace,
    name: str,
    inputs: Sequence[tuple[Symbol, Index]],
    loops: Sequence[Loop],
    output: tuple[int, ...],
    dtype: np.dtype[Any],
    body: Callable[..., ir.Value],
    initial: Any = None,
) -> Any:
    """Emit a ``linalg.generic`` with one result; what is made of numbers outside of tensors alone is one again.

    Args:
        name: what the op is called in its location.
        inputs: tensors, each with the loops that index it; complex ones only where the result is complex.
        loops: all loops, outermost first.
        output: the loops that index the result, which give it its shape.
        dtype: of the result.
        body: takes a scalar per input and the result so far, emits arith and math ops, gives the new result.
        initial: what a reduction starts from; None where every element is written once.
    """
    numbers = [] if loops or dtype.kind == "c" else [known_number(symbol.value) for symbol, _ in inputs]
    if numbers and all(number is not None for number in numbers):  # what loops count stays with them, and off the tiles
        with trace.emit(name):
            return trace.wrap(tensor_of_number(body(*numbers, constant(initial or 0, dtype))), (), dtype)
    return structured_results(
        trace, name, inputs, loops, output, [dtype], lambda *numbers: [body(*numbers)], [initial]
    )[0]


def structured_results(
    trace: Trace,
    name: str,
    inputs: Sequence[tuple[Symbol, Index]],
    loops: Sequence[Loop],
    output: tuple[int, ...],
    dtypes: Sequence[np.dtype[Any]],
    body: Callable[..., list[ir.Value]],
    initials: Sequence[Any],
) -> list[Any]:
    """As ``structured``, with a result for each of ``dtypes``: of one shape, and all or none of them complex."""
    sizes = tuple(loops[loop].size for loop in output)
    if dtypes[0].kind == "c":  # what is done to a complex element is done to each of its parts
        inputs = [(symbol, (*index, len(loops)) if symbol.dtype.kind == "c" else index) for symbol, index in inputs]
        loops, output = [*loops, Loop(2)], (*output, len(loops))
    with trace.emit(name):
        inits = [
            empty(sizes, dtype) if initial is None else filled(sizes, dtype, initial)
            for dtype, initial in zip(dtypes, initials, strict=True)
        ]
        if any(loop.size == 0 for loop in loops):
            return [trace.wrap(init, sizes, dtype) for init, dtype in zip(inits, dtypes, strict=True)]
        indices = [*(index for _, index in inputs), *(output for _ in dtypes)]
        op = linalg.GenericOp(
            [init.type for init in inits],
            [symbol.value for symbol, _ in inputs],
            inits,
            ir.ArrayAttr.get([ir.AffineMapAttr.get(_affine_map(len(loops), index)) for index in indices]),
            ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{loop.kind}>") for loop in loops]),
        )
        scalars = [element_type(dtype) for dtype in (*(symbol.dtype for symbol, _ in inputs), *dtypes)]
        block = op.regions[0].blocks.append(*scalars, arg_locs=[op.location] * len(scalars))
        with ir.InsertionPoint(block):
            linalg.YieldOp(body(*block.arguments))
        return [trace.wrap(result, sizes, dtype) for result, dtype in zip(op.results, dtypes, strict=True)]


def empty(shape: Sequence[int], dtype: np.dtype[Any]) -> ir.Value:
    """A tensor without values, at the current insertion point.

    Raises:
        TraceValueError: a size is negative.
    """
    if any(size < 0 for size in shape):
        Trace.tensor_type(shape, dtype)
    return tensor.empty(sizes_of(shape, dtype), element_type(dtype))


def without_elements(trace: Trace, name: str, shape: Sequence[int], dtype: np.dtype[Any]) -> Any:
    """The tensor of a shape with a size of 0: nothing is computed for it."""
    with trace.emit(name):
        return trace.wrap(empty(shape, dtype), tuple(shape), dtype)


def filled(shape: Sequence[int], dtype: np.dtype[Any], value: Any) -> ir.Value:
    """A tensor with one value everywhere, at the current insertion point."""
    return fill_with(constant(value, dtype), empty(shape, dtype)).results[0]


def constant(value: Any, dtype: np.dtype[Any]) -> ir.Value:
    """A scalar constant at the current insertion point."""
    return arith.constant(element_type(dtype), element_attribute(value, dtype))


def index_constant(value: int) -> ir.Value:
    """A constant of type index at the current insertion point."""
    type_ = ir.IndexType.get()
    return arith.constant(type_, ir.IntegerAttr.get(type_, value))


def _affine_map(num_loops: int, index: Index) -> ir.AffineMap:
    return ir.AffineMap.get(num_loops, 0, [_affine_expr(entry) for entry in index])


def _affine_expr(entry: int | Backward | Sum | None) -> ir.AffineExpr:
    if entry is None:
        return ir.AffineConstantExpr.get(0)
    if isinstance(entry, Backward):
        return ir.AffineConstantExpr.get(entry.size - 1) - ir.AffineDimExpr.get(entry.loop)
    if isinstance(entry, Sum):
        steps = entry.steps or (1,) * len(entry.loops)
        return reduce(
            operator.add, [ir.AffineDimExpr.get(loop) * step for loop, step in zip(entry.loops, steps, strict=True)]
        )
    return ir.AffineDimExpr.get(entry)


def check(name: str, condition: Symbol, message: str) -> None:
    """Let the run fail with ``message`` unless ``condition``, a bool without dimensions, holds.

    Args:
        name: what the op is called in its location.
    """
    with condition.program.emit(name):
        cf.AssertOp(number_of(condition.value), message)
