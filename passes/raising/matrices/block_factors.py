"""``ipu-block-factors``: factors and triangular solutions of large matrices, block by block."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.matrices import matrix_cycles
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.matrices.blocked import blocked_cholesky, blocked_solution
from ipu_mlir.passes.support.rewriting import list_ops

_SIZES = (32, 64, 128, 256)
_MOST_BLOCKS = 64  # the program grows with them
_STEPS = 8  # supersteps of a block, with their exchanges
_WORTH = 2  # a program that is longer has to be so many times faster

_SOLVERS = tuple(f"solve_{side}{unit}" for side in ("lower", "upper") for unit in ("", "_unit"))


class BlockFactors(Pass):
    """Factor large matrices, and solve large triangular systems, block by block.

    A vertex has a whole matrix, and goes through it step after step. Of blocks on the diagonal it has one; what lies
    beside them is solved column by column on all tiles, and what is left is updated by a product. A matrix that is not
    positive definite has a factor of NaN in all places, as before.

    Needs:  calls of the codelets ``cholesky`` and ``solve_lower``, ``solve_upper`` and those of unit diagonals, and the
            target.
    Leaves: none of them on matrices of 32 bits or more that do not fit a tile, or would take twice as long.
    """

    name = "ipu-block-factors"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                call = op.attributes.get("library_call", None)
                name = "" if call is None else ir.StringAttr(call).value
                if name != "cholesky" and name not in _SOLVERS:
                    continue
                *stack, size, columns = op.results[0].type.shape
                dtype, is_factor = str(op.results[0].type.element_type), name == "cholesky"
                if element_type(dtype).bits < 32:
                    continue  # between blocks it would be rounded
                tiles, machine = target.num_compute_tiles, machine_of(target)
                block = best_block(size, columns, prod(stack), is_factor, dtype, tiles, machine)
                if block < size:
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(_in_blocks(name, list(op.operands)[:-1], block))
                    op.erase()


def _in_blocks(name: str, operands: Sequence[ir.Value], block: int) -> ir.Value:
    if name == "cholesky":
        (matrix,) = operands
        return blocked_cholesky(matrix, block)
    matrix, right = operands
    return blocked_solution(name, matrix, right, block)


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
