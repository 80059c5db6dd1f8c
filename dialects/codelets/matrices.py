"""The common parts of codelets on stacks of matrices: their declaration, their cycles, complex numbers as pairs."""

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.signature import Related, Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.support.element_types import element_type

Array = np.ndarray[Any, Any]
Function = Callable[..., tuple[Array, ...]]
Sizes = Mapping[str, Any]

_INSTRUCTIONS = 3
"""Of a multiply-add on vectors: a load, the operation and a store; the other operand stays in a register."""


def of_each(function: Callable[..., Any], *operands: Array, cores: tuple[int, ...]) -> tuple[Array, ...]:
    """``function`` of every matrix of stacks, whose operands have ``cores`` dimensions, as stacks again."""
    stack = operands[0].shape[: operands[0].ndim - cores[0]]
    flat = [each.reshape(prod(stack), *each.shape[len(stack) :]) for each in operands]
    found = [function(*parts) for parts in zip(*flat, strict=True)]
    columns = list(zip(*(each if isinstance(each, tuple) else (each,) for each in found), strict=True))
    return tuple(np.stack(column).reshape((*stack, *column[0].shape)) for column in columns)


def or_nan(function: Any, a: Array, *others: Array, cores: tuple[int, ...]) -> tuple[Array, ...]:
    """``function`` of stacks; NaN for those matrices for which NumPy gives an error, which it gives for all at once."""
    try:
        found = function(a, *others)
        return found if isinstance(found, tuple) else (found,)
    except np.linalg.LinAlgError:
        pass

    def one(*parts: Array) -> Any:
        try:
            return function(*parts)
        except np.linalg.LinAlgError:
            found = function(np.eye(*a.shape[-2:], dtype=a.dtype), *parts[1:])  # of those shapes and types
            is_one = not isinstance(found, tuple)
            blank = tuple(np.full_like(each, np.nan) for each in ((found,) if is_one else found))
            return blank[0] if is_one else blank

    return of_each(one, a, *others, cores=cores)


def matrix_cycles(flops: Size, steps: Size, matrices: Size, dtype: str, machine: Machine) -> Size:
    """Cycles of a vertex that does ``flops`` for each of its matrices, in ``steps`` that wait for each other.

    Workers share the rows of a matrix, which they are told in every step (26 cycles, as for any other vertex); or each
    takes matrices of its own: whichever is faster. Source: assumed: vectors of the width of the worker, three
    instructions for each multiply-add.
    """
    instructions = ceil_div(_INSTRUCTIONS * flops, 2 * machine.vector_width(dtype)) * element_type(dtype).slowdown
    alone = 26 + per_worker(matrices, machine) * instructions
    shared = matrices * (26 * steps + per_worker(instructions, machine))
    return 11 + machine.workers * smaller(alone, shared)


def matrix_codelets(
    name: str,
    real: str,
    pairs: str,
    one: Callable[..., Any],
    every: Function,
    *,
    flops: Callable[[Sizes], Size],
    steps: Callable[[Sizes], Size],
    scratch: Callable[[Sizes], Size],
    source: str,
    parallel: str = "",
    related: Related = lambda sizes: True,
) -> tuple[LibraryCodelet, LibraryCodelet]:
    """A codelet on stacks of matrices of real numbers, and ``name_complex`` on those of pairs of parts.

    Args:
        real, pairs: the signatures.
        one: the operands of one matrix to its results, real or complex: the definition.
        every: stacks to stacks.
        flops, steps, scratch: for one matrix of some sizes, by the letters of the signature: floating-point operations
            (complex ones take four times as many), steps that wait for each other, and numbers that it needs besides
            its operands.
        parallel, related: of the signature.
    """
    signature = Signature.parse(real, parallel, related)

    def definition(*operands: Array) -> tuple[Array, ...]:
        return of_each(one, *operands, cores=tuple(map(len, signature.inputs)))

    return (
        stack_codelet(name, signature, definition, every, flops, steps, scratch, source),
        stack_codelet(
            f"{name}_complex",
            Signature.parse(pairs, parallel, related),
            on_pairs(definition),
            on_pairs(every),
            lambda sizes: 4 * flops(sizes),
            steps,
            lambda sizes: 2 * scratch(sizes),
            f"{source}; of pairs of real and imaginary parts",
        ),
    )


def stack_codelet(
    name: str,
    signature: Signature,
    per_tile: Function,
    vectorised: Function,
    flops: Callable[[Sizes], Size],
    steps: Callable[[Sizes], Size],
    scratch: Callable[[Sizes], Size],
    source: str,
) -> LibraryCodelet:
    """A codelet on stacks, from what one element of a stack takes."""

    def sizes_of(sizes: IntArray) -> dict[str, Any]:
        first = sizes.shape[-1] - len(signature.loops)
        return {loop[0]: sizes[..., first + number] for number, loop in enumerate(signature.loops)}

    def matrices(sizes: IntArray) -> Size:
        return product_over(sizes, range(sizes.shape[-1] - len(signature.loops)))

    def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        own = sizes_of(sizes)
        return matrix_cycles(flops(own), steps(own), matrices(sizes), call.dtypes[0], machine)

    def scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        in_hand = smaller(machine.workers, matrices(sizes))
        return in_hand * scratch(sizes_of(sizes)) * element_type(call.dtypes[0]).bytes

    return LibraryCodelet(
        name=name,
        per_tile=per_tile,
        vectorised=lambda *operands: vectorised(*map(_wide, operands)),
        cycles=cycles,
        code_bytes=2048,
        source=source,
        needs=f"{signature}, of floats of one type",
        takes=signature.takes,
        takes_types=_floats,
        signature=signature,
        scratch_bytes=scratch_bytes,
        flops=lambda call, sizes: flops(sizes_of(sizes)) * matrices(sizes),
    )


def on_pairs(function: Function) -> Function:
    """``function`` of complex arrays, on arrays whose last dimension is the real and the imaginary part.

    >>> on_pairs(lambda x: (x * 1j, abs(x)))(np.array([[3.0, 4.0]]))
    (array([[-4.,  3.]]), array([5.]))
    """

    def wrapped(*operands: Array) -> tuple[Array, ...]:
        return tuple(map(to_pairs, function(*map(_joined, operands))))

    return wrapped


def _joined(pairs: Array) -> Array:
    whole = np.complex128 if pairs.dtype == np.float64 else np.complex64
    lies_together = pairs.strides[-1] == pairs.itemsize  # as the two parts of a complex number do
    return (pairs if lies_together else np.ascontiguousarray(pairs)).view(whole)[..., 0]


def to_pairs(found: Array) -> Array:
    if found.dtype.kind != "c":
        return found
    return found[..., None].view(np.float64 if found.dtype == np.complex128 else np.float32)


def _wide(array: Array) -> Array:
    """f16 is computed in f32, as by the definition; those of f8 and bf16 lie in f32 anyway."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def _floats(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> bool:
    """One type of floats; integers as results are i32."""
    floats = {*inputs, *(each for each in outputs if each != "i32")}
    return len(floats) == 1 and element_type(*floats).is_float
