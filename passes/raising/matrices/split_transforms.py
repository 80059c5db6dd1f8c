"""``ipu-split-transforms``: Fourier transforms of long rows as two of short ones."""

from collections.abc import Sequence
from math import ceil, log2, prod

import numpy as np

from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.matrices import matrix_cycles
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.machine.size_arithmetic import divisors
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.matrices.blocked import zeros_like
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import generic, identity_map, reshaped
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_NAMES = ("fft", "ifft", "rfft")
_WORTH = 2  # a program that is longer has to be so many times faster
_STEPS = 8  # supersteps, with their exchanges

SECOND_HALF = "ipu.second_half"
"""Of the transform of a matrix's rows: what it is together with the transform of its columns."""

arith, tensor = upstream("arith"), upstream("tensor")


class SplitTransforms(Pass):
    """Write Fourier transforms of long rows as transforms of the columns and the rows of a matrix.

    A vertex has a whole row, and few rows leave tiles idle, or fit none. The elements of a row are a matrix, row by
    row: its columns are transformed, each element is turned by a root of unity, and its rows are transformed, whose
    elements are those of the result column by column (Bailey, "FFTs in external or hierarchical memory", 1990).

    Needs:  calls of the codelets ``fft``, ``ifft`` and ``rfft``, and the target.
    Leaves: none of them on rows of 32 bits or more that do not fit a tile, or would take twice as long, as far as their
            length has divisors.
    """

    name = "ipu-split-transforms"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            tiles, machine = target.num_compute_tiles, machine_of(target)
            for op in list_ops(module, "linalg.generic"):
                name = ir.StringAttr(op.attributes["library_call"]).value if "library_call" in op.attributes else ""
                if name not in _NAMES:
                    continue
                shape, dtype = op.operands[0].type.shape, str(op.operands[0].type.element_type)
                *stack, size = shape if name == "rfft" else shape[:-1]
                columns = best_columns(size, prod(stack), dtype, tiles, machine)
                if columns is not None:
                    with ir.InsertionPoint(op), op.location:
                        replace_op(op, [_in_two(name, op.operands[0], op.results[0].type, columns)])


def best_columns(size: int, rows: int, dtype: str, num_tiles: int, machine: Machine) -> int | None:
    """Into how many columns each of ``rows`` rows of ``size`` elements is cut; None where a vertex has a whole row.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [best_columns(size, 1, "f32", 1472, IPU2) for size in (64, 65_536, 1009, 1_000_000)]
    [None, 256, None, 1000]
    """
    if element_type(dtype).bits < 32 or not size * rows:
        return None  # between the two it would be rounded

    def cycles(length: int, count: int) -> int:
        steps = ceil(log2(max(2, length)))
        return int(matrix_cycles(5 * length * steps, 2 * steps, -(-count // num_tiles), dtype, machine))

    def of_both(columns: int) -> int:
        moved = 2 * element_type(dtype).bytes * -(-rows * size // num_tiles)
        both = cycles(size // columns, rows * columns) + cycles(columns, rows * (size // columns))
        return both + 3 * int(cycles_for_bytes(moved, moved, machine)) + _STEPS * machine.sync_cycles

    best = min(divisors(size)[1:-1], key=of_both, default=None)
    is_large = 6 * size * element_type(dtype).bytes > machine.bytes_per_tile // 2
    return best if best is not None and (is_large or _WORTH * of_both(best) < cycles(size, rows)) else None


def _in_two(name: str, value: ir.Value, result: ir.RankedTensorType, columns: int) -> ir.Value:
    """The transform ``name`` of all rows of ``value``, at the current insertion point."""
    if name == "rfft":
        shape = [*value.type.shape, 2]
        zeros = zeros_like(tensor.EmptyOp(shape, value.type.element_type).result)
        value = _with_part(zeros, value, 0)
    *stack, size, _ = value.type.shape
    short, element, rows = "ifft" if name == "ifft" else "fft", value.type.element_type, size // columns
    matrix = reshaped(value, [prod(stack), rows, columns, 2])
    (down,) = call_codelet(short, [turned := _turned(matrix)], [turned.type.shape], [element])
    real, imaginary = _rotated(down, 1 if name == "ifft" else -1)
    pairs = tensor.EmptyOp([prod(stack), rows, columns, 2], element).result
    pairs = _with_part(_with_part(pairs, real, 0), imaginary, 1)
    (across,) = call_codelet(short, [pairs], [pairs.type.shape], [element])
    across.owner.attributes[SECOND_HALF] = ir.StringAttr.get(name)
    found = reshaped(_turned(across), [*stack, size, 2])
    if name != "rfft":
        return found
    sizes = list(result.shape)
    return tensor.ExtractSliceOp(result, found, [], [], [], [0] * len(sizes), sizes, [1] * len(sizes)).result


def _turned(matrices: ir.Value) -> ir.Value:
    """``matrices`` of pairs, shape ``(stack, rows, columns, 2)``, with rows as columns."""
    stack, rows, columns, _ = matrices.type.shape
    empty = tensor.EmptyOp([stack, columns, rows, 2], matrices.type.element_type).result
    maps = [swapped_map(), identity_map(4)]
    return generic([matrices], [empty], maps, [True] * 4, lambda arguments: arguments[:1]).results[0]


def swapped_map() -> ir.AffineMap:
    """Where an element of turned matrices comes from."""
    return _map(4, (0, 2, 1, 3))


def _rotated(down: ir.Value, sign: int) -> Sequence[ir.Value]:
    """Both parts of ``down``, shape ``(stack, columns, rows, 2)``, turned by roots of unity, as rows of columns."""
    stack, columns, rows, _ = down.type.shape
    element = down.type.element_type
    angles = sign * 2 * np.pi * (np.arange(rows)[:, None] * np.arange(columns) % (rows * columns)) / (rows * columns)
    roots = [_constant(each, element) for each in (np.cos(angles), np.sin(angles))]
    parts = [_part(down, number) for number in (0, 1)]
    empties = [tensor.EmptyOp([stack, rows, columns], element).result for _ in parts]
    maps = [*[_map(3, (0, 2, 1))] * 2, *[_map(3, (1, 2))] * 2, *[identity_map(3)] * 2]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        x, y, cosine, sine, *_ = arguments
        xc, ys, xs, yc = (arith.MulFOp(a, b).result for a, b in ((x, cosine), (y, sine), (x, sine), (y, cosine)))
        return [arith.SubFOp(xc, ys).result, arith.AddFOp(xs, yc).result]

    return list(generic([*parts, *roots], empties, maps, [True] * 3, body).results)


def _map(loops: int, dims: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(dim) for dim in dims])


def _constant(values: np.ndarray, element: ir.Type) -> ir.Value:
    values = np.ascontiguousarray(values, np.float64 if element == ir.F64Type.get() else np.float32)
    return arith.ConstantOp(ir.RankedTensorType.get(values.shape, element), ir.DenseElementsAttr.get(values)).result


def _part(pairs: ir.Value, number: int) -> ir.Value:
    """The real or the imaginary parts."""
    *shape, _ = pairs.type.shape
    kind = ir.RankedTensorType.get(shape, pairs.type.element_type)
    offsets, sizes = [*[0] * len(shape), number], [*shape, 1]
    return tensor.ExtractSliceOp(kind, pairs, [], [], [], offsets, sizes, [1] * len(sizes)).result


def _with_part(pairs: ir.Value, part: ir.Value, number: int) -> ir.Value:
    """``pairs`` with ``part`` as all real or imaginary parts."""
    sizes = [*part.type.shape, 1]
    offsets = [*[0] * part.type.rank, number]
    return tensor.InsertSliceOp(part, pairs, [], [], [], offsets, sizes, [1] * len(sizes)).result
