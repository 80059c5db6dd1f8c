"""``ipu-block-factors``: factors and triangular solutions of large matrices, block by block."""

from collections.abc import Sequence
from functools import cache, partial
from math import prod

from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.matrices import matrix_cycles
from ipu_mlir.dialects.codelets.orthogonal import product_flops, singular_flops
from ipu_mlir.dialects.codelets.solve import elimination_flops
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.matrices.blocked import blocked_cholesky, blocked_solution, tall_singular_values
from ipu_mlir.passes.raising.matrices.eliminated import blocked_lu, determinant, sign_and_logarithm, solution
from ipu_mlir.passes.raising.matrices.jacobi import SWEEPS, eigenvalues, singular_values
from ipu_mlir.passes.raising.matrices.lu_in_loops import lu_in_loops
from ipu_mlir.passes.raising.matrices.reflections_in_loops import product_in_loops, reflections_in_loops
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_SIZES = (32, 64, 128, 256)
_MOST_BLOCKS = 64  # the program grows with them
_STEPS = 8  # supersteps of a block, with their exchanges
_WORTH = 2  # a program that is longer has to be so many times faster

_PANELS = (64, 32, 16)  # columns that one vertex has of all rows
_WIDTHS = (128, 16)  # columns of a block whose rows lie on all tiles, and of a block of such a block
_CYCLES_OF_PIVOT, _CYCLES_OF_PIVOT_ELEMENT = 6500, 200  # for a column, and an element of such a block that a tile has,
# seen with 300 to 4,096 columns
_PANELS_BY_ESTIMATE = 1.25  # seen with 300 columns
_REFLECTED = 32  # of them that are reflected at a time
_CYCLES_OF_COLUMN, _CYCLES_OF_BLOCK = 4000, 25_000  # for such columns, seen with 20 to 1,024 of them
_CYCLES_OF_ELEMENT = 90  # that a tile has of the columns, in the step of one
_CYCLES_OF_ROUND = 2000  # in which all pairs of rows are rotated, and 10 more for each row, seen with 128 and 512
_SOLVERS = tuple(f"solve_{side}{unit}" for side in ("lower", "upper") for unit in ("", "_unit"))
_SINGULAR = {"svd_reduced": "reduced", "svdvals": ""}
_ROTATED = ("svd", "svd_reduced", "svdvals", "eigh", "eigvalsh")
_ELIMINATIONS = ("lu", "solve", "det", "slogdet")
_REFLECTIONS = ("reflections", "reflections_product")
_NAMES = (*_ELIMINATIONS, *_ROTATED, *_REFLECTIONS, "cholesky", *_SOLVERS)  # systems last: those before make some


class BlockFactors(Pass):
    """Factor large matrices, and solve large systems of equations, block by block.

    A vertex has a whole matrix, and goes through it step after step. Of blocks on the diagonal it has one; what lies
    beside them is solved column by column on all tiles, and what is left is updated by a product. A matrix that is not
    positive definite has a factor of NaN in all places, as before. Of LU factors a vertex has some columns in all of
    their rows, among which it finds the pivots; general systems and determinants follow from such factors. Of a matrix
    that is too high for that, or has very many columns, all tiles have rows, and find each pivot together, in loops.
    Householder's reflections of a large matrix are found in such loops, too, and multiplied some columns at a time.
    Of one matrix of f32, singular values, eigenvalues of symmetric ones, and their vectors follow from rotations of all
    pairs of rows at a time, so that vectors have other signs than LAPACK's.
    High matrices have the singular values of the triangular factors of parts of their rows.

    Needs:  calls of the codelets ``cholesky``, ``lu``, ``solve``, ``det`` and ``slogdet``, of ``solve_lower``,
            ``solve_upper`` and those of unit diagonals, of ``reflections`` and ``reflections_product``, of
            ``svd``, ``svd_reduced``, ``svdvals``, ``eigh`` and ``eigvalsh``, and the target.
    Leaves: none of them on matrices of 32 bits or more that do not fit a tile, or would take twice as long; of several
            matrices, as far as a tile has room for 16 of their columns; several that are reflected or rotated stay.
    """

    name = "ipu-block-factors"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            tiles, machine = target.num_compute_tiles, machine_of(target)
            for name in _NAMES:
                for op in list_ops(module, "linalg.generic"):
                    call = op.attributes.get("library_call", None)
                    if call is None or ir.StringAttr(call).value != name:
                        continue
                    with ir.InsertionPoint(op), op.location:
                        found = _in_blocks(name, list(op.operands)[: -len(op.results)], tiles, machine)
                    if found:
                        replace_op(op, found)


def _in_blocks(name: str, operands: Sequence[ir.Value], num_tiles: int, machine: Machine) -> Sequence[ir.Value]:
    """The results of codelet ``name``, at the current insertion point; none where it stays."""
    matrix, *others = operands
    *stack, rows, columns = matrix.type.shape
    dtype, count = str(matrix.type.element_type), prod(stack)
    if element_type(dtype).bits < 32:
        return ()  # between blocks it would be rounded
    again = partial(_called, num_tiles=num_tiles, machine=machine)
    if name in _SINGULAR:
        parts = best_parts(rows, columns, count, _SINGULAR[name], dtype, num_tiles, machine)
        if parts > 1:
            shapes = [[*stack, columns]] if name == "svdvals" else _shapes_of_vectors(stack, parts * columns, columns)
            return tall_singular_values(name, matrix, parts, lambda factors: again(name, [factors], shapes))
    if name in _ROTATED:
        if count > 1 or dtype != "f32" or not by_rotations(name, rows, columns, num_tiles, machine):
            return ()
        if name in ("eigh", "eigvalsh"):
            return eigenvalues(matrix, name == "eigh")
        return singular_values(name, matrix, again)
    if name in _REFLECTIONS:
        steps = others[0].type.shape[-1] if others else min(rows, columns)
        if count > 1 or not in_loops(rows, columns, steps, name == "reflections", dtype, num_tiles, machine):
            return ()
        width = min(_REFLECTED, steps)
        return [product_in_loops(matrix, others[0], width)] if others else reflections_in_loops(matrix, width)
    if name in _ELIMINATIONS:
        stops = best_panels(rows, columns, count, dtype, num_tiles, machine)
        if count == 1 and _pivots_on_all_tiles(rows, columns, stops, dtype, num_tiles, machine):
            least = min(rows, columns)
            lu = lu_in_loops(matrix, [width for width in _WIDTHS if width <= least] or [least])
        elif stops:
            lu = blocked_lu(matrix, stops)
        else:
            return ()
        made = {"lu": list, "solve": partial(solution, b=others[-1] if others else None)}
        return {**made, "det": determinant, "slogdet": sign_and_logarithm}[name](lu)
    is_factor, right = name == "cholesky", others[0].type.shape[-1] if others else columns
    block = best_block(rows, right, count, is_factor, dtype, num_tiles, machine)
    if block == rows:
        return ()
    return [blocked_cholesky(matrix, block) if is_factor else blocked_solution(name, matrix, others[0], block)]


def _shapes_of_vectors(stack: list[int], rows: int, columns: int) -> list[list[int]]:
    """Of left vectors, values and right vectors of matrices that are not wide."""
    return [[*stack, rows, columns], [*stack, columns], [*stack, columns, columns]]


def _called(
    name: str, operands: list[ir.Value], shapes: list[list[int]], num_tiles: int, machine: Machine
) -> list[ir.Value]:
    """The results of codelet ``name``, in blocks or by one vertex."""
    found = _in_blocks(name, operands, num_tiles, machine)
    return list(found) or call_codelet(name, operands, shapes, [operands[0].type.element_type] * len(shapes))


def by_rotations(name: str, rows: int, columns: int, num_tiles: int, machine: Machine) -> bool:
    """True if all tiles rotate the rows of a matrix of f32 in less time than one finds its values and vectors.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [by_rotations("eigh", size, size, 1472, IPU2) for size in (32, 128)]
    [False, True]
    """
    least = min(rows, columns)
    if name in ("eigh", "eigvalsh"):
        flops = 9 * least**3 if name == "eigh" else 4 * least**3 // 3
    else:
        flops = singular_flops(rows, columns, {"svd": "full"}.get(name, _SINGULAR.get(name, "")))
    whole = int(matrix_cycles(flops, 8 * least, 1, "f32", machine))
    is_large = _is_large(2 * rows * columns, "f32", machine)
    return least > 3 and (is_large or _WORTH * _rotated(name, rows, columns, num_tiles) < whole)


def _rotated(name: str, rows: int, columns: int, num_tiles: int) -> int:
    """Cycles of what ``name`` finds by rotations, of a triangular factor if it is singular values."""
    high, least = max(rows, columns), min(rows, columns)
    rotations = (_CYCLES_OF_ROUND + 10 * least) * SWEEPS * least
    if "svd" not in name:
        return rotations
    factor = _reflected(high, least, num_tiles)
    return rotations + factor + (0 if name == "svdvals" else _reflected(least, least, num_tiles))


def _reflected(rows: int, steps: int, num_tiles: int) -> int:
    """Cycles in which all tiles reflect the columns of a matrix, one after the other."""
    elements = rows * min(steps, _REFLECTED) // num_tiles
    return steps * (_CYCLES_OF_COLUMN + _CYCLES_OF_ELEMENT * elements) + _CYCLES_OF_BLOCK * -(-steps // _REFLECTED)


def in_loops(
    rows: int, columns: int, steps: int, is_factor: bool, dtype: str, num_tiles: int, machine: Machine
) -> bool:
    """True if all tiles together reflect a matrix, or multiply reflections, ``steps`` of them, in less time than one.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [in_loops(rows, 20, 20, True, "f32", 1472, IPU2) for rows in (50, 500)]
    [False, True]
    """
    flops = 2 * elimination_flops(rows, columns) if is_factor else product_flops(rows, columns, steps)
    whole = int(matrix_cycles(flops, (3 if is_factor else 2) * steps, 1, dtype, machine))
    blocks = _reflected(rows, steps, num_tiles) if is_factor else _CYCLES_OF_BLOCK * -(-steps // _REFLECTED)
    is_large = _is_large(rows * columns, dtype, machine)
    return steps > 0 and (is_large or _WORTH * blocks * element_type(dtype).slowdown < whole)


def best_parts(
    rows: int, columns: int, matrices: int, vectors: str, dtype: str, num_tiles: int, machine: Machine
) -> int:
    """Into how many parts of rows high matrices are best cut for their singular values, a power of two; 1 for none.

    A part has at least twice as many rows as columns. The triangular factors of all parts may be cut again.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [best_parts(rows, 20, 1, "reduced", "f32", 1472, IPU2) for rows in (64, 500, 100_000)]
    [1, 8, 256]
    """
    each = element_type(dtype).bytes

    @cache
    def cycles(left: int, parts: int) -> int:
        height, share = -(-left // parts), -(-matrices * parts // num_tiles)
        total = (1 << 40) * _is_large(share * height * columns, dtype, machine)
        if parts == 1:
            total += int(matrix_cycles(singular_flops(left, columns, vectors), 8 * columns, share, dtype, machine))
            name = next(each for each, kind in _SINGULAR.items() if kind == vectors)
            if matrices > 1 or dtype != "f32" or not by_rotations(name, left, columns, num_tiles, machine):
                return total
            return min(total, _rotated(name, left, columns, num_tiles))
        total += int(matrix_cycles(2 * elimination_flops(height, columns), 3 * columns, share, dtype, machine))
        if vectors:
            product = product_flops(height, columns, columns)
            total += int(matrix_cycles(product, 2 * columns, share, dtype, machine))
            total += -(-2 * share * height * columns**2 // machine.amp_flops_per_cycle(dtype))
        moved = each * columns * (share * height + parts * columns)
        total += int(cycles_for_bytes(moved, moved, machine)) + _STEPS * machine.sync_cycles
        return total + cycles(parts * columns, best(parts * columns))

    def best(left: int) -> int:
        powers = [1 << power for power in range(1, num_tiles.bit_length()) if (2 * columns) << power <= left]
        even = [parts for parts in powers if left - (parts - 1) * -(-left // parts) >= columns]
        return min((1, *even), key=lambda parts: cycles(left, parts))

    return best(rows) if columns else 1


def best_panels(
    rows: int, columns: int, matrices: int, dtype: str, num_tiles: int, machine: Machine
) -> tuple[int, ...]:
    """The ends of the blocks of columns in which matrices are best brought to LU form; none for whole matrices.

    A block takes at most half of a tile, with its factors.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [best_panels(size, size, 1, "f32", 1472, IPU2) for size in (48, 100)]
    [(), (16, 32, 48, 64, 80, 96, 100)]
    >>> len(best_panels(1024, 1024, 1, "f32", 1472, IPU2))
    64
    """
    each, count, share = element_type(dtype).bytes, min(rows, columns), -(-matrices // num_tiles)
    cycles = partial(_panel_cycles, rows, columns, matrices, dtype, num_tiles, machine)
    fitting = [width for width in _PANELS if 2 * share * rows * width * each <= machine.bytes_per_tile // 2]
    choices = [(*range(width, count, width), count) for width in fitting if width < count <= _MOST_BLOCKS * width]
    if not choices:
        return ()
    best, whole = min(choices, key=cycles), _eliminated(rows, columns, share, dtype, machine)
    is_large = _is_large(share * rows * columns, dtype, machine)
    return best if is_large or _WORTH * cycles(best) < whole else ()


def _panel_cycles(
    rows: int, columns: int, matrices: int, dtype: str, num_tiles: int, machine: Machine, stops: tuple[int, ...]
) -> int:
    each, share, total = element_type(dtype).bytes, -(-matrices // num_tiles), 0
    for start, stop in zip((0, *stops), stops, strict=False):
        left, width, behind = rows - start, stop - start, columns - stop
        right, updated = -(-behind * matrices // num_tiles), matrices * (left - width) * behind
        total += _eliminated(left, width, share, dtype, machine)
        total += int(matrix_cycles(width**2 * right, width, share, dtype, machine))
        total += -(-2 * width * updated // (num_tiles * machine.amp_flops_per_cycle(dtype)))
        moved = each * (share * left * width + 2 * -(-matrices * left * columns // num_tiles))
        total += int(cycles_for_bytes(moved, moved, machine)) + _STEPS * machine.sync_cycles
    return total


def _pivots_on_all_tiles(
    rows: int, columns: int, stops: tuple[int, ...], dtype: str, num_tiles: int, machine: Machine
) -> bool:
    """True if all tiles find the pivots of a matrix in less time than tiles that have some columns, up to ``stops``.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> sizes = 48, 300, 1024, 4096
    >>> [_pivots_on_all_tiles(n, n, best_panels(n, n, 1, "f32", 1472, IPU2), "f32", 1472, IPU2) for n in sizes]
    [False, False, True, True]
    """
    if not stops:
        return _is_large(rows * columns, dtype, machine)
    elements = rows * _WIDTHS[-1] // num_tiles
    on_all = min(rows, columns) * (_CYCLES_OF_PIVOT + _CYCLES_OF_PIVOT_ELEMENT * elements)
    panels = _panel_cycles(rows, columns, 1, dtype, num_tiles, machine, stops)
    return element_type(dtype).slowdown * on_all < _PANELS_BY_ESTIMATE * panels


def _eliminated(rows: int, columns: int, matrices: int, dtype: str, machine: Machine) -> int:
    """Cycles of a vertex that brings so many matrices to LU form, one after the other."""
    flops = int(elimination_flops(rows, columns))
    return int(matrix_cycles(flops, 2 * min(rows, columns), matrices, dtype, machine))


def _is_large(elements: int, dtype: str, machine: Machine) -> bool:
    """True if so many elements, with as many of their factors, take more than half of a tile."""
    return 2 * elements * element_type(dtype).bytes > machine.bytes_per_tile // 2


def best_block(
    size: int, columns: int, matrices: int, is_factor: bool, dtype: str, num_tiles: int, machine: Machine
) -> int:
    """The size of the blocks of matrices of ``size`` rows that takes least; ``size`` itself for none.

    Args:
        columns: right sides of a triangular system.
        is_factor: whether the matrix is to be factored.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> [best_block(size, size, 1, True, "f32", 1472, IPU2) for size in (48, 256, 4096)]
    [48, 32, 64]
    """
    each = element_type(dtype).bytes
    share = -(-matrices // num_tiles)
    width = 1 if is_factor else -(-columns * matrices // num_tiles)

    def solved(block: int, right: int) -> int:
        return int(matrix_cycles(block**2 * right, block, share, dtype, machine))

    def diagonal(block: int) -> int:
        return int(matrix_cycles(block**3 // 3 + block**2, block, share, dtype, machine)) if is_factor else 0

    def cycles(block: int) -> int:
        if block == size:
            return diagonal(size) if is_factor else solved(size, width)
        total = 0
        for start in range(block, size + block, block):
            rest = max(0, size - start)
            right = -(-rest * matrices // num_tiles) if is_factor else width
            updated = matrices * rest * (rest if is_factor else columns)
            products = -(-2 * block * updated // (num_tiles * machine.amp_flops_per_cycle(dtype)))
            moved = each * (share * block**2 + 2 * -(-updated // num_tiles))
            total += diagonal(block) + solved(block, right) + products
            total += int(cycles_for_bytes(moved, moved, machine)) + _STEPS * machine.sync_cycles
        return total

    choices = [block for block in _SIZES if block < size <= _MOST_BLOCKS * block]
    best = min(choices, key=cycles, default=size)
    operands = share * size**2 * (2 if is_factor else 1)
    is_large = operands * each > machine.bytes_per_tile // 2
    return best if best < size and (is_large or _WORTH * cycles(best) < cycles(size)) else size
