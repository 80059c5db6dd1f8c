"""Scans as IR: one codelet, or blocks where one vertex could not hold all elements."""

from math import isqrt

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.support.combiners import OPS_OF_KIND
from ipu_mlir.passes.support.linalg_builders import (
    fill_with,
    generic,
    identity_map,
    in_all_dimensions,
    in_three_dimensions,
    zero,
)

_SHARE = 8
"""Of a tile's memory, what one operand of a scan may take: there are two, and their homes lie on tiles as well."""


def scan(values: ir.Value, combine: str, from_end: bool, longest: int) -> ir.Value:
    """The scan of ``values`` (outer, scanned, inner), of which one vertex scans ``longest`` if that can be.

    It can where blocks can be combined with what comes before them, so not for ``logaddexp``.
    """
    if values.type.shape[1] > longest and combine in OPS_OF_KIND:
        return _scan_in_blocks(values, combine, from_end)
    empty = upstream("tensor").EmptyOp(list(values.type.shape), values.type.element_type).result
    call = ir.StringAttr.get(f"scan_{combine}{'_from_end' if from_end else ''}")
    maps = [identity_map(3)] * 2
    return generic([values], [empty], maps, [True, False, True], _placeholder, {"library_call": call}).results[0]


def scan_along(values: ir.Value, combine: str, at: int, longest: int, *, from_end: bool = False) -> ir.Value:
    """The scan of ``values`` along dimension ``at``."""
    return in_all_dimensions(scan(in_three_dimensions(values, at), combine, from_end, longest), values.type, at)


def longest_scan(tile_bytes: int, element: ir.Type) -> int:
    """The number of elements of a type that one vertex scans if nothing else is asked for."""
    return tile_bytes // (_SHARE * element_type(str(element)).bytes)


def _placeholder(arguments: list[ir.Value]) -> list[ir.Value]:
    """A body that nothing takes for a copy and folds."""
    return [_combined("add", arguments[0], arguments[0])]


def _combined(combine: str, first: ir.Value, second: ir.Value) -> ir.Value:
    name = OPS_OF_KIND[combine][isinstance(first.type, ir.IntegerType)]
    return ir.Operation.create(name, [first.type], [first, second]).result


def _scan_in_blocks(values: ir.Value, combine: str, from_end: bool) -> ir.Value:
    """Scan blocks of about the square root of the size, then their last elements, and combine each block with those.

    What the last block lacks is zeros at its end, which nobody sees; a scan from the end would, so there the first
    block lacks them at its front.
    """
    outer, size, inner = values.type.shape
    block = isqrt(size - 1) + 1
    blocks = -(-size // block)
    front = blocks * block - size if from_end else 0
    rows = _collapsed(_expanded(_with_zeros(values, front, blocks * block), [outer, blocks, block, inner]), 0)
    scans = _expanded_rows(scan(rows, combine, from_end, block), outer)
    ends = [0, 0, 0 if from_end else block - 1, 0]
    last = _collapsed(_slice(scans, ends, [outer, blocks, 1, inner]), 1)
    before = scan(last, combine, from_end, blocks)
    others = [outer, blocks - 1, block, inner]
    start, behind = (0, 1) if from_end else (1, 0)
    started = _slice(before, [0, behind, 0], [outer, blocks - 1, inner])
    joined = _join(combine, started, _slice(scans, [0, start, 0, 0], others))
    whole = _collapsed(_inserted(joined, scans, [0, start, 0, 0]), 1)
    return _slice(whole, [0, front, 0], [outer, size, inner])


def _join(combine: str, started: ir.Value, blocks: ir.Value) -> ir.Value:
    """Every element of a block combined with what comes before the block."""
    empty = upstream("tensor").EmptyOp(list(blocks.type.shape), blocks.type.element_type).result
    loops = [ir.AffineExpr.get_dim(loop) for loop in range(4)]
    maps = [ir.AffineMap.get(4, 0, [loops[0], loops[1], loops[3]]), identity_map(4), identity_map(4)]
    op = generic([started, blocks], [empty], maps, [True] * 4, lambda x: [_combined(combine, x[0], x[1])])
    return op.results[0]


def _with_zeros(values: ir.Value, front: int, size: int) -> ir.Value:
    """``values`` with zeros around them, ``size`` in all."""
    outer, old, inner = values.type.shape
    if size == old:
        return values
    element = values.type.element_type
    filled = fill_with(zero(element), upstream("tensor").EmptyOp([outer, size, inner], element).result).results[0]
    return _inserted(values, filled, [0, front, 0])


def _expanded(values: ir.Value, shape: list[int]) -> ir.Value:
    """Three dimensions as four: the second one becomes two."""
    target = ir.RankedTensorType.get(shape, values.type.element_type)
    return upstream("tensor").ExpandShapeOp(target, values, [[0], [1, 2], [3]], [], shape).result


def _expanded_rows(values: ir.Value, outer: int) -> ir.Value:
    """Three dimensions as four: the first one becomes two, ``outer`` and the rest."""
    rows, block, inner = values.type.shape
    shape = [outer, rows // outer, block, inner]
    target = ir.RankedTensorType.get(shape, values.type.element_type)
    return upstream("tensor").ExpandShapeOp(target, values, [[0, 1], [2], [3]], [], shape).result


def _collapsed(values: ir.Value, first: int) -> ir.Value:
    """Four dimensions as three: ``first`` and the next become one."""
    shape = list(values.type.shape)
    shape[first : first + 2] = [shape[first] * shape[first + 1]]
    groups = [[0, 1], [2], [3]] if first == 0 else [[0], [1, 2], [3]]
    target = ir.RankedTensorType.get(shape, values.type.element_type)
    return upstream("tensor").CollapseShapeOp(target, values, groups).result


def _slice(values: ir.Value, offsets: list[int], sizes: list[int]) -> ir.Value:
    """``sizes`` elements from ``offsets`` on."""
    if list(values.type.shape) == sizes:
        return values
    target = ir.RankedTensorType.get(sizes, values.type.element_type)
    return upstream("tensor").extract_slice(target, values, [], [], [], offsets, sizes, [1] * len(sizes))


def _inserted(part: ir.Value, whole: ir.Value, offsets: list[int]) -> ir.Value:
    """``whole`` with ``part`` from ``offsets`` on."""
    sizes = list(part.type.shape)
    return upstream("tensor").insert_slice(part, whole, [], [], [], offsets, sizes, [1] * len(sizes))
