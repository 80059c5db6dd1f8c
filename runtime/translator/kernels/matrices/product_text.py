"""Products of matrices: one factor packed a panel of columns at a time, the results in tiles that are registers.

One function is for all sizes, and for factors that lie in rows or in columns. A result is a sum of sums of 256 terms,
each added one after the other, so it has the same bits wherever its tile begins.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.kernels.kernel_function import DATA_OFFSET, EXTENTS_OFFSET, STRIDES_OFFSET, Function
from ipu_mlir.runtime.translator.kernels.products import MOST_ROWS, MOST_VECTORS
from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, I64, LANES, Code, Value, type_text

_TERMS = 256  # summed before they are added to the result
_COLUMNS = 512  # packed at a time: 512 KiB of f32, half of the second cache
_COPIED = 8  # rows of a tile that are copied, if the first factor lies in columns
assert MOST_ROWS <= _COPIED, "one vector has the rows of a tile"

_TILE = ("a: ptr", "b: ptr", "out: ptr", "rows", "columns", "terms", "a_row", "a_term", "out_row", "adds")
_PANEL = ("b: ptr", "packed: ptr", "columns", "terms", "b_term", "b_column")
_PRODUCT = (
    *("a: ptr", "b: ptr", "out: ptr", "packed: ptr", "rows", "columns", "terms"),
    *("a_row", "a_term", "b_term", "b_column", "out_row"),
)


def panel_vectors(dtype: np.dtype[Any]) -> int:
    """The vectors of a row of a tile: as many bytes as two of f32 have."""
    return max(1, MOST_VECTORS * 4 // dtype.itemsize)


def packed_elements(columns: int, terms: int, dtype: np.dtype[Any]) -> int:
    """Elements of the memory in which a product packs its factors: a few rows of one, then panels of the other.

    >>> packed_elements(2048, 2048, np.dtype("f4")) <= 2048 + (512 + 32) * 256
    True
    """
    wide, summed = LANES * panel_vectors(dtype), min(terms, _TERMS)
    return _COPIED * _TERMS + (-(-min(columns, _COLUMNS) // wide) * summed + LANES) * wide


def product_text(name: str, dtype: np.dtype[Any], ranks: Sequence[int], batch: Sequence[Sequence[int | None]]) -> str:
    """The function ``name`` of two factors, a result and the memory to pack in, arrays of ``ranks`` dimensions.

    ``batch`` has the axes of each array in front of those of a matrix that move together; None for one that stands.
    """
    function = Function({})
    code = function.code

    def loaded(address: str, byte: int, kind: str) -> str:
        place = code.value(f"llvm.getelementptr {address}[{byte}] : (!llvm.ptr) -> !llvm.ptr, i8")
        return code.value(f"llvm.load {place} : !llvm.ptr -> {kind}")

    data, extents, strides = (
        [loaded(f"%array{array}", offset, "!llvm.ptr") for array in range(4)]
        for offset in (DATA_OFFSET, EXTENTS_OFFSET, STRIDES_OFFSET)
    )

    def extent(array: int, axis: int) -> str:
        return loaded(extents[array], 8 * axis, "i64")

    def step(array: int, axis: int) -> str:
        size = code.index(dtype.itemsize)
        return code.value(f"arith.divsi {loaded(strides[array], 8 * axis, 'i64')}, {size} : i64")

    a, b, out = ranks
    sizes = [extent(2, out - 2), extent(2, out - 1), extent(0, a - 1)]
    steps = [step(0, a - 2), step(0, a - 1), step(1, b - 2), step(1, b - 1), step(2, out - 2)]

    def write(axes: Sequence[Sequence[int | None]], places: list[str | None]) -> None:
        if not axes:
            moved = [
                _moved(code, address, place, dtype) for address, place in zip(data[:3], places, strict=True)
            ]  # fmt: skip
            _call(code, f"{_short(dtype)}_product", _PRODUCT, [*moved, data[3], *sizes, *steps])
            return
        (first, *others), known = axes, axes[0][2]
        assert known is not None, "a result moves with all its axes"
        with function.loop(extent(2, known)) as number:
            further = [
                place if axis is None else function.plus(place, _times(code, number, step(array, axis)))
                for array, (axis, place) in enumerate(zip(first, places, strict=True))
            ]
            write(others, further)

    write(list(batch), [None] * 3)
    return code.text(name, ", ".join(f"%array{array}: !llvm.ptr" for array in range(4)))


@cache
def product_parts(dtype: np.dtype[Any]) -> dict[str, str]:
    """The functions that all products of ``dtype`` call, by name."""
    parts = ("tile", _TILE, _tile), ("panel", _PANEL, _panel), ("product", _PRODUCT, _all_tiles)
    texts = {}
    for part, parameters, write in parts:
        function = Function({})
        write(function, dtype)
        taken = ", ".join(f"%{each}" if ":" in each else f"%{each}: i64" for each in parameters)
        name = f"{_short(dtype)}_{part}"
        texts[name] = function.code.text(name, taken.replace(": ptr", ": !llvm.ptr"), "internal ")
    return texts


def _all_tiles(function: Function, dtype: np.dtype[Any]) -> None:
    """A whole product: for each part of the columns and of the terms, a panel after the other, then rows of tiles."""
    code, wide, short = function.code, LANES * panel_vectors(dtype), _short(dtype)
    copied, panels = "%packed", _moved(code, "%packed", code.index(_COPIED * _TERMS), dtype)
    one, lies_in_columns = code.index(1), code.value(f"arith.cmpi ne, %a_term, {code.index(1)} : i64")
    with function.loop("%columns", _COLUMNS) as column, function.loop("%terms", _TERMS) as term:
        columns, terms = _left(code, "%columns", column, _COLUMNS), _left(code, "%terms", term, _TERMS)
        is_first = code.value(f"arith.cmpi ne, {term}, {code.index(0)} : i64")
        adds = code.value(f"arith.extui {is_first} : i1 to i64")
        b = _moved(code, "%b", _sum(function, _times(code, term, "%b_term"), _times(code, column, "%b_column")), dtype)
        with function.loop(columns, wide) as start:
            source = _moved(code, b, _times(code, start, "%b_column"), dtype)
            panel = _moved(code, panels, _times(code, start, terms), dtype)
            left = _left(code, columns, start, wide)
            _call(code, f"{short}_panel", _PANEL, [source, panel, left, terms, "%b_term", "%b_column"])
        with function.loop("%rows", MOST_ROWS) as row:
            rows = _left(code, "%rows", row, MOST_ROWS)
            a = _moved(code, "%a", _sum(function, _times(code, row, "%a_row"), _times(code, term, "%a_term")), dtype)
            with function.branch(lies_in_columns):
                mask = _lanes_below(function, rows, _COPIED)
                with function.loop(terms) as n:
                    few = function.load(a, _times(code, n, "%a_term"), dtype, _COPIED, mask)
                    function.store(copied, _times(code, n, code.index(_COPIED)), few)
            a, a_row, a_term = (
                code.value(f"arith.select {lies_in_columns}, {yes}, {no} : {kind}")
                for yes, no, kind in (
                    (copied, a, "!llvm.ptr"),
                    (one, "%a_row", "i64"),
                    (code.index(_COPIED), one, "i64"),
                )
            )
            out = _moved(code, "%out", _sum(function, _times(code, row, "%out_row"), column), dtype)
            with function.loop(columns, wide) as start:
                panel = _moved(code, panels, _times(code, start, terms), dtype)
                left = _left(code, columns, start, wide)
                place = _moved(code, out, start, dtype)
                _call(
                    code,
                    f"{short}_tile",
                    _TILE,
                    [a, panel, place, rows, left, terms, a_row, a_term, "%out_row", adds],
                )


def _panel(function: Function, dtype: np.dtype[Any]) -> None:
    """Columns of a factor side by side, a term after the other; what is beyond the last column is anything."""
    code, wide = function.code, LANES * panel_vectors(dtype)
    starts = range(0, wide, LANES)
    lies_in_rows, lies_in_columns = (
        code.value(f"arith.cmpi {which}, %b_column, {code.index(1)} : i64") for which in ("eq", "ne")
    )
    with function.branch(lies_in_rows):
        masks = [_lanes_below(function, code.value(f"arith.subi %columns, {code.index(at)} : i64")) for at in starts]
        with function.loop("%terms") as term:
            source, dest = _times(code, term, "%b_term"), _times(code, term, code.index(wide))
            for at, mask in zip(starts, masks, strict=True):
                found = function.load("%b", _plus(function, source, at), dtype, LANES, mask)
                function.store("%packed", _plus(function, dest, at), found)
    with function.branch(lies_in_columns):  # a square at a time
        squares = code.alloca(LANES * LANES * dtype.itemsize), code.alloca(LANES * LANES * dtype.itemsize)
        last = code.value(f"arith.subi %columns, {code.index(1)} : i64")
        with function.loop("%terms", LANES) as term, function.loop(wide, LANES) as start:
            mask = _lanes_below(function, code.value(f"arith.subi %terms, {term} : i64"))
            with function.loop(LANES) as n:
                column = code.value(f"arith.addi {start}, {n} : i64")
                column = code.value(f"arith.minsi {column}, {last} : i64")
                source = _sum(function, _times(code, column, "%b_column"), term)
                found = function.load("%b", source, dtype, LANES, mask)
                function.store(squares[0], _times(code, n, code.index(LANES)), found)
            _turn(function, squares, dtype)
            dest = code.value(f"arith.addi {_times(code, term, code.index(wide))}, {start} : i64")
            with function.loop(LANES) as n:
                found = function.load(squares[0], _times(code, n, code.index(LANES)), dtype, LANES)
                place = code.value(f"arith.addi {dest}, {_times(code, n, code.index(wide))} : i64")
                function.store("%packed", place, found)


def _turn(function: Function, squares: tuple[str, str], dtype: np.dtype[Any]) -> None:
    """Make the columns of the first square its rows: its halves are shuffled into each other as often as it takes."""
    code, half = function.code, LANES // 2
    with function.loop(LANES.bit_length() // 2):
        for source, dest in (squares, squares[::-1]):
            with function.loop(half) as n:
                place, after = _times(code, n, code.index(LANES)), _times(code, n, code.index(2 * LANES))
                low = function.load(source, place, dtype, LANES)
                high = function.load(source, _plus(function, place, half * LANES), dtype, LANES)
                for part in range(2):
                    order = ", ".join(f"{part * half + lane}, {LANES + part * half + lane}" for lane in range(half))
                    mixed = code.value(f"vector.shuffle {low.name}, {high.name} [{order}] : {low.type}, {low.type}")
                    function.store(dest, _plus(function, after, part * LANES), Value(mixed, dtype, LANES))


def _tile(function: Function, dtype: np.dtype[Any]) -> None:
    """Rows of one factor times a panel, which are the tile of the result or, if it ``adds``, are added to it."""
    code, wide, zeros = function.code, LANES * panel_vectors(dtype), function.code.constant(0, dtype, LANES)
    rows, starts = range(MOST_ROWS), range(0, wide, LANES)
    last = code.value(f"arith.subi %rows, {code.index(1)} : i64")
    sums = {(row, at): function.held(zeros) for row in rows for at in starts}
    lines = []
    for row in rows:  # those behind the last one are the last one
        place = _times(code, code.value(f"arith.minsi {code.index(row)}, {last} : i64"), "%a_row")
        lines.append(_moved(code, "%a", place, dtype))
        for at in starts:
            there = _moved(code, "%out", _plus(function, _times(code, code.index(row), "%out_row"), at), dtype)
            code.line(
                f'"llvm.intr.prefetch"({there}) <{{rw = 1 : i32, hint = 3 : i32, cache = 1 : i32}}> : (!llvm.ptr) -> ()'
            )
    with function.loop("%terms") as term:
        place, panel = _times(code, term, "%a_term"), _times(code, term, code.index(wide))
        vectors = {at: function.load("%b", _plus(function, panel, at), dtype, LANES) for at in starts}
        for row in rows:
            number = function.load(lines[row], place, dtype)
            for at in starts:
                before = function.read(sums[row, at], zeros)
                function.write(sums[row, at], function.ops.op("math.fma", number, vectors[at], before))
    masks = {at: _lanes_below(function, code.value(f"arith.subi %columns, {code.index(at)} : i64")) for at in starts}
    adds = Value(code.value(f"arith.cmpi ne, %adds, {code.index(0)} : i64"), BOOL)
    for row, at in sums:
        is_inside = Value(code.value(f"arith.cmpi slt, {code.index(row)}, %rows : i64"), BOOL)
        mask = function.ops.both(masks[at], is_inside)
        place = _plus(function, _times(code, code.index(row), "%out_row"), at)
        before = function.load("%out", place, dtype, LANES, function.ops.both(mask, adds))
        value = function.ops.op("arith.addf", function.read(sums[row, at], zeros), before)
        function.store("%out", place, value, mask)


# -- numbers and addresses


def _short(dtype: np.dtype[Any]) -> str:
    return type_text(dtype)


def _times(code: Code, a: str, b: str) -> str:
    return code.value(f"arith.muli {a}, {b} : i64")


def _plus(function: Function, place: str, elements: int) -> str:
    return _sum(function, place, function.code.index(elements))


def _sum(function: Function, a: str, b: str) -> str:
    return function.plus(a, b) or function.code.index(0)


def _left(code: Code, total: str, start: str, most: int) -> str:
    """What is left of ``total`` from ``start`` on, at most so many."""
    return code.value(f"arith.minsi {code.value(f'arith.subi {total}, {start} : i64')}, {code.index(most)} : i64")


def _moved(code: Code, address: str, elements: str | None, dtype: np.dtype[Any]) -> str:
    if elements is None:
        return address
    return code.value(f"llvm.getelementptr {address}[{elements}] : (!llvm.ptr, i64) -> !llvm.ptr, {type_text(dtype)}")


def _lanes_below(function: Function, count: str, lanes: int = LANES) -> Value:
    """The mask of the lanes, of so many, that have a number below ``count``."""
    dense = ", ".join(map(str, range(lanes)))
    numbers = function.code.first(f"arith.constant dense<[{dense}]> : vector<{lanes}xi64>")
    return function.ops.compare("slt", Value(numbers, I64, lanes), Value(count, I64))


def _call(code: Code, name: str, parameters: Sequence[str], arguments: Sequence[str]) -> None:
    kinds = ", ".join("!llvm.ptr" if ":" in each else "i64" for each in parameters)
    code.line(f"llvm.call @{name}({', '.join(arguments)}) : ({kinds}) -> ()")
