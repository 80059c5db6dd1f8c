"""``ipu-raise-scans``: cumulative sums, products and extremes as scans."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.costs.sizes import bytes_of
from ipu_mlir.dialects.module_target import module_target
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.blocked_scans import scan
from ipu_mlir.passes.build_generic import generic, identity_map
from ipu_mlir.passes.prefix_windows import PrefixWindow, prefix_window
from ipu_mlir.passes.rewriting import list_ops

_SHARE = 8
"""Of a tile's memory, what one operand of a scan may take: there are two, and their homes lie on tiles as well."""


@dataclass(frozen=True)
class RaiseScans(Pass):
    """Write windows over all elements up to the own one as scans.

    Frontends pad ``n`` elements with ``n - 1`` neutral ones for that, and let a window of ``n`` slide over them: that
    takes ``n * n`` steps. The library codelets ``scan_add``, ``scan_mul``, ``scan_max``, ``scan_min`` and
    ``scan_logaddexp`` take ``n``; one vertex scans all of a dimension. Those ``_from_end`` begin with the last element.

    Option: ``longest``, how many elements one vertex scans at most: an eighth of a tile's memory if nothing is said. A
    longer dimension is scanned in blocks, which are then combined with the last elements of the blocks before them.

    Needs:  linalg on tensors, static shapes, sums of 16-bit floats in f32 (``ipu-widen-sums``): others stay windows.
    Leaves: no window that starts from a neutral element and combines the elements of a dimension up to its own, or from
            it on; shorter windows stay.
    """

    name = "ipu-raise-scans"

    longest: int | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            tile_bytes = module_target(module).bytes_per_tile
            pads = list_ops(module, "tensor.pad")
            for op in dict.fromkeys(use.owner.operation for pad in pads for use in pad.results[0].uses):
                window = prefix_window(op)
                if window is not None:
                    result = op.results[0].type
                    longest = self.longest or tile_bytes // (_SHARE * bytes_of(str(result.element_type)))
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(_scan(window, result, longest))
                    op.erase()


def _scan(window: PrefixWindow, result: ir.RankedTensorType, longest: int) -> ir.Value:
    source, at = window.source, window.dimension
    if source.type.element_type != result.element_type:
        source = _widened(source, result)
    values = _in_three_dimensions(source, at)
    scanned = scan(values, window.combine, window.from_end, longest)
    return _in_all_dimensions(scanned, result, at)


def _widened(source: ir.Value, result: ir.RankedTensorType) -> ir.Value:
    empty = upstream("tensor").EmptyOp(list(result.shape), result.element_type).result
    maps = [identity_map(result.rank)] * 2
    extend = upstream("arith").ExtFOp
    op = generic([source], [empty], maps, [True] * result.rank, lambda x: [extend(result.element_type, x[0]).result])
    return op.results[0]


def _in_three_dimensions(value: ir.Value, at: int) -> ir.Value:
    """``value`` with all dimensions before ``at`` as one, then that one, then all behind it as one."""
    shape, element = list(value.type.shape), value.type.element_type
    groups = _groups_around(at, len(shape))
    if len(groups) < len(shape):
        shape = [prod(shape[d] for d in group) for group in groups]
        value = upstream("tensor").CollapseShapeOp(ir.RankedTensorType.get(shape, element), value, groups).result
    if len(groups) < 3:
        expanded = [1] * (at == 0) + shape
        expanded += [1] * (3 - len(expanded))
        target = ir.RankedTensorType.get(expanded, element)
        value = upstream("tensor").ExpandShapeOp(target, value, _unit_groups(groups, at), [], expanded).result
    return value


def _in_all_dimensions(value: ir.Value, target: ir.RankedTensorType, at: int) -> ir.Value:
    """The inverse of ``_in_three_dimensions``, for a result of type ``target``."""
    shape = list(target.shape)
    groups = _groups_around(at, len(shape))
    if len(groups) < 3:
        collapsed = ir.RankedTensorType.get([prod(shape[d] for d in group) for group in groups], target.element_type)
        value = upstream("tensor").CollapseShapeOp(collapsed, value, _unit_groups(groups, at)).result
    if len(groups) < len(shape):
        value = upstream("tensor").ExpandShapeOp(target, value, groups, [], shape).result
    return value


def _groups_around(at: int, rank: int) -> list[list[int]]:
    """The dimensions before ``at``, ``at``, and those behind it; none is empty.

    >>> _groups_around(2, 4), _groups_around(0, 2)
    ([[0, 1], [2], [3]], [[0], [1]])
    """
    return [group for group in (list(range(at)), [at], list(range(at + 1, rank))) if group]


def _unit_groups(groups: list[list[int]], at: int) -> list[list[int]]:
    """Which of three dimensions each of fewer becomes, where the unit ones belong to the dimension that is scanned.

    >>> _unit_groups([[0], [1]], 1), _unit_groups([[0], [1]], 0), _unit_groups([[0]], 0)
    ([[0], [1, 2]], [[0, 1], [2]], [[0, 1, 2]])
    """
    if len(groups) == 1:
        return [[0, 1, 2]]
    return [[0, 1], [2]] if at == 0 else [[0], [1, 2]]
