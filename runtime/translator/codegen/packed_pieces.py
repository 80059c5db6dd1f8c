"""Products whose first factor has to be packed, cut so that each packed piece stays in the cache until it is used.

A convolution packs its windows: 3 x 3 taps make a copy nine times as large as the image.
"""

from dataclasses import replace
from math import prod

from ipu_mlir.runtime.translator.codegen.schedule import Schedule
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.statements import Dot


def pieces(dot: Dot, rows: tuple[int, ...], schedule: Schedule) -> list[Dot]:
    """``dot``, whose factor ``a`` will be packed, cut along the outermost of ``rows`` that no block loop cuts."""
    loops = [loop for loop in rows if loop != schedule.block_loop]
    if not loops:
        return [dot]
    loop, extent = loops[0], dot.extents[loops[0]]
    count = piece_count(
        extent,
        rows=_per_block(prod(dot.extents[each] for each in rows), schedule.block_loop in rows, schedule),
        elements=_per_block(_elements(dot.a, dot.extents), _moves_with_block(dot.a, schedule), schedule),
        most_elements=schedule.options.packed_elements,
        fewest_rows=schedule.options.block_min_gemm_rows,
    )
    if count == 1:
        return [dot]
    length = extent // count
    extents = tuple(length if each == loop else n for each, n in enumerate(dot.extents))
    return [
        replace(dot, extents=extents, a=_from(dot.a, loop, start), out=_from(dot.out, loop, start))
        for start in range(0, extent, length)
    ]


def piece_count(extent: int, rows: int, elements: int, most_elements: int, fewest_rows: int) -> int:
    """The fewest equal pieces of ``extent`` with at most ``most_elements`` each, as far as ``fewest_rows`` allow.

    >>> piece_count(extent=56, rows=3136, elements=3136 * 576, most_elements=524288, fewest_rows=512)
    4
    >>> piece_count(extent=56, rows=3136, elements=3136 * 4608, most_elements=524288, fewest_rows=512)
    4
    >>> piece_count(extent=7, rows=49, elements=49 * 4608, most_elements=524288, fewest_rows=512)
    1
    """
    count = 1
    for more in range(2, extent + 1):
        if elements <= most_elements * count or rows < fewest_rows * more:
            break
        if extent % more == 0:
            count = more
    return count


def _elements(access: Access, extents: tuple[int, ...]) -> int:
    return prod(n for n, stride in zip(extents, access.strides, strict=True) if stride)


def _moves_with_block(access: Access, schedule: Schedule) -> bool:
    return schedule.block_loop is not None and access.strides[schedule.block_loop] != 0


def _per_block(number: int, is_cut: bool, schedule: Schedule) -> int:
    """The part of ``number`` that one block has."""
    return number * schedule.block_size // schedule.block_units if is_cut else number


def _from(access: Access, loop: int, start: int) -> Access:
    return replace(access, offset=access.offset + start * access.strides[loop])
