"""The loops of a contraction by what they move: batch, rows, columns, and the sum."""

from dataclasses import dataclass
from itertools import pairwise

from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.statements import Dot


@dataclass(frozen=True)
class LoopKinds:
    """Loops of a ``Dot`` with more than one point, by which operands move with them."""

    batch: tuple[int, ...]  # both factors and the result
    rows: tuple[int, ...]  # the first factor and the result
    columns: tuple[int, ...]  # the second factor and the result
    summed: tuple[int, ...]  # both factors only


def loop_kinds(dot: Dot) -> LoopKinds:
    """Every loop of ``dot`` in one of the four kinds; rows and columns in the order of the result's memory."""
    kinds: dict[tuple[bool, bool, bool], list[int]] = {}
    for loop, extent in enumerate(dot.extents):
        if extent > 1:
            key = (bool(dot.a.strides[loop]), bool(dot.b.strides[loop]), bool(dot.out.strides[loop]))
            kinds.setdefault(key, []).append(loop)
    for loops in kinds.values():
        loops.sort(key=lambda loop: -dot.out.strides[loop])
    known = {(True, True, True), (True, False, True), (False, True, True), (True, True, False)}
    assert set(kinds) <= known, f"{dot.origin.op}: a loop moves one factor alone"
    return LoopKinds(
        tuple(kinds.get((True, True, True), ())),
        tuple(kinds.get((True, False, True), ())),
        tuple(kinds.get((False, True, True), ())),
        tuple(kinds.get((True, True, False), ())),
    )


def merges(loops: tuple[int, ...], extents: tuple[int, ...], *accesses: Access) -> bool:
    """True if ``loops``, outermost first, act as one loop in every access."""
    return all(
        access.strides[outer] == access.strides[inner] * extents[inner]
        for access in accesses
        for outer, inner in pairwise(loops)
    )


def is_matrix(rows: int, columns: int, row_stride: int, column_stride: int) -> bool:
    """True if BLAS takes such a matrix as it lies: one stride is 1 and the other spans it."""
    as_rows = (column_stride == 1 or columns == 1) and (row_stride >= columns or rows == 1)
    as_columns = (row_stride == 1 or rows == 1) and (column_stride >= rows or columns == 1)
    return (as_rows and row_stride >= 0) or (as_columns and column_stride >= 0)
