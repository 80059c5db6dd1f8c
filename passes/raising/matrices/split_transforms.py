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

_NAMES = ("fft", "ifft", "rfft", "irfft", "irfft_odd")
_WORTH = 2  # a program that is longer has to be so many times faster
_STEPS = 8  # supersteps, with their exchanges

SECOND_HALF = "ipu.second_half"
"""Of the transform of a matrix's rows: what it is together with the transform of its columns."""

arith, tensor = upstream("arith"), upstream("tensor")


class SplitTransforms(Pass):
    """Write Fourier transforms of long rows as transforms of the columns and the rows of a matrix.

    A vertex has a whole row, and few rows leave tiles idle, or fit none. The elements of a row are a matrix, row by
    row: its columns are transformed, each element is turned by a root of unity, and its rows are transformed, whose
    elements are those of the result column by column (Bailey, "FFTs in external or hierarchical memory", 1990). Where
    the length of a row has no divisors that serve, as a prime, its transform is a convolution with a chirp, by
    transforms of rows of a power of two (Bluestein, "A linear filtering approach to the computation of the discrete
    Fourier transform", 1970).

    Needs:  calls of the codelets ``fft``, ``ifft``, ``rfft``, ``irfft`` and ``irfft_odd``, and the target.
    Leaves: none of them on rows of 32 bits or more that do not fit a tile, or would take twice as long.
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
                dtype = str(op.operands[0].type.element_type)
                real = op.operands[0 if name == "rfft" else -1].type.shape
                *stack, size = op.operands[0].type.shape[:-1] if name in ("fft", "ifft") else real
                cut = best_cut(size, prod(stack), dtype, tiles, machine)
                if cut is not None:
                    with ir.InsertionPoint(op), op.location:
                        replace_op(op, [_cut(name, op.operands[0], op.results[0].type, size, *cut)])


def best_cut(size: int, rows: int, dtype: str, num_tiles: int, machine: Machine) -> tuple[int, int] | None:
    """The length of transform, and its columns, by which ``rows`` rows of ``size`` elements are transformed.

    A length that is not ``size`` is one of convolutions. None where a vertex has a whole row.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [best_cut(size, 1, "f32", 1472, IPU2) for size in (64, 65_536, 1_000_000)]
    [None, (65536, 256), (1000000, 1000)]
    >>> best_cut(131_071, 1, "f32", 1472, IPU2)
    (262144, 512)
    """
    if element_type(dtype).bits < 32 or not size * rows:
        return None  # between the two it would be rounded

    def cycles(length: int, count: int) -> int:
        steps = ceil(log2(max(2, length)))
        return int(matrix_cycles(5 * length * steps, 2 * steps, -(-count // num_tiles), dtype, machine))

    def of_both(length: int, columns: int) -> int:
        moved = 2 * element_type(dtype).bytes * -(-rows * length // num_tiles)
        both = cycles(length // columns, rows * columns) + cycles(columns, rows * (length // columns))
        return both + 3 * int(cycles_for_bytes(moved, moved, machine)) + _STEPS * machine.sync_cycles

    def of_all(cut: tuple[int, int]) -> int:
        return of_both(*cut) * (1 if cut[0] == size else 2)

    lengths = (size, 1 << (2 * size - 2).bit_length())
    best = min(
        ((length, columns) for length in lengths for columns in divisors(length)[1:-1]), key=of_all, default=None
    )
    is_large = 6 * size * element_type(dtype).bytes > machine.bytes_per_tile // 2
    return best if best is not None and (is_large or _WORTH * of_all(best) < cycles(size, rows)) else None


def _cut(name: str, value: ir.Value, result: ir.RankedTensorType, size: int, length: int, columns: int) -> ir.Value:
    """The transform ``name`` of all rows of ``value``, at the current insertion point, by ones of ``length``."""
    half = np.full(size // 2 + 1, 2.0)  # all but those that stand for themselves stand for their conjugates, too
    half[[0, -1] if size % 2 == 0 else [0]] = 1.0
    if name == "rfft":
        value = _with_part(_zeros([*value.type.shape, 2], value), value, 0)
    elif name.startswith("irfft"):
        value = _padded(_times(value, half.astype(np.complex128)), size)
    *stack, _, _ = value.type.shape
    rows = reshaped(value, [prod(stack), size, 2])
    found = _in_two(rows, name, columns) if length == size else _by_chirp(rows, name.startswith("i"), length, columns)
    found = reshaped(found, [*stack, size, 2])
    if result.rank == len(stack) + 1:
        return _part(found, 0)
    sizes = list(result.shape)
    return tensor.ExtractSliceOp(result, found, [], [], [], [0] * len(sizes), sizes, [1] * len(sizes)).result


def _in_two(rows: ir.Value, name: str, columns: int) -> ir.Value:
    """The transforms of ``rows`` of pairs, shape ``(rows, size, 2)``, as those of columns and rows of matrices.

    Args:
        name: ``fft``, ``ifft``, or ``rfft`` if the imaginary parts are zeros, and half of the results is read;
            ``irfft`` if real parts are read, and zeros stand for conjugates of the others, which are doubled.
    """
    count, size, _ = rows.type.shape
    codelet, element, height = "ifft" if name.startswith("i") else "fft", rows.type.element_type, size // columns
    turned = _turned(reshaped(rows, [count, height, columns, 2]))
    (down,) = call_codelet(codelet, [turned], [turned.type.shape], [element])
    places = np.arange(height)[:, None] * np.arange(columns) % size
    pairs = _times(down, np.exp((-1 if codelet == "fft" else 1) * 2j * np.pi * places / size), (0, 2, 1))
    (across,) = call_codelet(codelet, [pairs], [pairs.type.shape], [element])
    across.owner.attributes[SECOND_HALF] = ir.StringAttr.get(name.removesuffix("_odd"))
    return reshaped(_turned(across), [count, size, 2])


def _by_chirp(rows: ir.Value, is_inverse: bool, length: int, columns: int) -> ir.Value:
    """The transforms of ``rows`` of pairs, shape ``(rows, size, 2)``, as convolutions by transforms of ``length``.

    Twice the product of two numbers is the sum of their squares, less that of their difference.
    """
    size = rows.type.shape[1]
    places = np.arange(size)
    chirp = np.exp((1 if is_inverse else -1) * 1j * np.pi * (places**2 % (2 * size)) / size)
    kernel = np.zeros(length, np.complex128)
    kernel[:size] = chirp.conj()
    kernel[1 - size :] = chirp[:0:-1].conj()
    found = _in_two(_padded(_times(rows, chirp), length), "fft", columns)
    found = _in_two(_times(found, np.fft.fft(kernel)), "ifft", columns)
    sizes = list(rows.type.shape)
    found = tensor.ExtractSliceOp(rows.type, found, [], [], [], [0, 0, 0], sizes, [1, 1, 1]).result
    return _times(found, chirp / size if is_inverse else chirp)


def _padded(pairs: ir.Value, size: int) -> ir.Value:
    """Rows of ``pairs`` with zeros behind them, ``size`` of both together."""
    *stack, _, _ = sizes = list(pairs.type.shape)
    zeros = _zeros([*stack, size, 2], pairs)
    return tensor.InsertSliceOp(pairs, zeros, [], [], [], [0] * len(sizes), sizes, [1] * len(sizes)).result


def _zeros(shape: Sequence[int], like: ir.Value) -> ir.Value:
    return zeros_like(tensor.EmptyOp(list(shape), like.type.element_type).result)


def _turned(matrices: ir.Value) -> ir.Value:
    """``matrices`` of pairs, shape ``(stack, rows, columns, 2)``, with rows as columns."""
    stack, rows, columns, _ = matrices.type.shape
    empty = tensor.EmptyOp([stack, columns, rows, 2], matrices.type.element_type).result
    maps = [swapped_map(), identity_map(4)]
    return generic([matrices], [empty], maps, [True] * 4, lambda arguments: arguments[:1]).results[0]


def swapped_map() -> ir.AffineMap:
    """Where an element of turned matrices comes from."""
    return _map(4, (0, 2, 1, 3))


def _times(pairs: ir.Value, factors: np.ndarray, order: Sequence[int] | None = None) -> ir.Value:
    """``pairs``, with their dimensions in ``order``, times complex ``factors`` of the last of these."""
    element, rank = pairs.type.element_type, pairs.type.rank - 1
    order = tuple(range(rank)) if order is None else order
    shape = [pairs.type.shape[dim] for dim in order]
    constants = [_constant(each, element) for each in (factors.real, factors.imag)]
    parts = [_part(pairs, number) for number in (0, 1)]
    empties = [tensor.EmptyOp(shape, element).result for _ in parts]
    taken, last = _map(rank, np.argsort(order).tolist()), _map(rank, range(rank - factors.ndim, rank))
    maps = [taken, taken, last, last, identity_map(rank), identity_map(rank)]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        x, y, real, imaginary, *_ = arguments
        xr, yi, xi, yr = (arith.MulFOp(a, b).result for a, b in ((x, real), (y, imaginary), (x, imaginary), (y, real)))
        return [arith.SubFOp(xr, yi).result, arith.AddFOp(xi, yr).result]

    found = generic([*parts, *constants], empties, maps, [True] * rank, body).results
    both = tensor.EmptyOp([*shape, 2], element).result
    return _with_part(_with_part(both, found[0], 0), found[1], 1)


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
