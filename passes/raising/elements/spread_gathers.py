"""``ipu-spread-gathers``: gathers from large tables, whose rows are shared out among the tiles."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loads_in, loop_nest
from ipu_mlir.dialects.analysis.matchers import is_made_inside, is_used
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.support.index_ranges import IndexRanges
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    elementwise,
    fill_with,
    generic,
    identity_map,
    loop_index,
    with_extents,
    zero,
)
from ipu_mlir.passes.support.rewriting import list_ops

_SMALL = 8  # of a tile's memory, one part in so many that a table cut by columns may take
_ENOUGH = 16  # the part that blocks of rows need not go below


@dataclass(frozen=True)
class SpreadGathers(Pass):
    """Gather from a large table in two steps: from each block of its rows, then from the block that has the row.

    Any row may be asked for, so that each tile needs all rows of the columns that it gathers: a table of many rows and
    few columns fits on no tile. In the first step every block of rows has a row for every index, its nearest one; in
    the second one these are gathered from by the number of the block. Blocks are as few as share out the table well.
    Dimensions side by side that are all gathered along, as of a picture at ``[y, x]``, are one dimension.

    Option: ``largest``, the bytes of a table cut by columns on one tile that are not worth it; an eighth of the tile if
    it is not given.

    Needs:  gathers as bodies that load (``ipu-raise-element-ops``, ``ipu-raise-dynamic-slices``).
    Leaves: no gather along dimensions side by side from a table of more bytes on a tile, if blocks of its rows, with
            what is found in all of them, take half of them or fewer.
    """

    name = "ipu-spread-gathers"

    largest: int | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            largest = target.bytes_per_tile // _SMALL if self.largest is None else self.largest
            for op in list_ops(module, "linalg.generic"):
                while _spread_one(op, target, largest):
                    pass


def _spread_one(op: ir.Operation, target: Target, largest: int) -> bool:
    """Spread the first load of ``op`` that is worth it; False if there is none."""
    nest = None if "library_call" in op.attributes else loop_nest(op)
    if nest is None or not all(nest.parallel):
        return False
    for number, load in enumerate(loads_in(op)):
        if _join_dimensions(op, nest, load, number, target, largest):
            return True
        at = _gathered_dimension(op, nest, load, number)
        blocks = 1 if at is None else _blocks_of(op, nest, load, at, target, largest)
        if at is not None and blocks > 1:
            _spread(op, nest, number, at, blocks)
            return True
    return False


def _join_dimensions(
    op: ir.Operation, nest: LoopNest, load: ir.Operation, number: int, target: Target, largest: int
) -> bool:
    """Make one dimension of those, side by side, that ``load`` may be anywhere in, if the table is worth spreading."""
    anywhere = _gathered_dimensions(op, nest, load, number)
    table, *places = load.operands
    first, last = (anywhere[0], anywhere[-1]) if len(anywhere) > 1 else (0, -1)
    if anywhere != [*range(first, last + 1)]:
        return False
    shape = list(table.type.shape)
    joined = [*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]]
    kind = ir.RankedTensorType.get(joined, table.type.element_type)
    if _table_bytes(kind, first, target) <= largest:
        return False
    arith, tensor = upstream("arith"), upstream("tensor")
    groups = [*([d] for d in range(first)), [*range(first, last + 1)], *([d] for d in range(last + 1, len(shape)))]
    with ir.InsertionPoint(op), op.location:
        table = tensor.CollapseShapeOp(kind, table, groups).result
    with ir.InsertionPoint(load), load.location:
        place = constant_index(0)
        for dimension in range(first, last + 1):
            place = arith.MulIOp(place, constant_index(shape[dimension])).result
            place = arith.AddIOp(place, _kept_within(places[dimension], shape[dimension])).result
        found = tensor.ExtractOp(table, [*places[:first], place, *places[last + 1 :]]).result
        load.results[0].replace_all_uses_with(found)
    load.erase()
    return True


def _gathered_dimension(op: ir.Operation, nest: LoopNest, load: ir.Operation, number: int) -> int | None:
    """The one dimension of its table that ``load`` may be anywhere in; None where there is no such, or several."""
    anywhere = _gathered_dimensions(op, nest, load, number)
    return anywhere[0] if len(anywhere) == 1 else None


def _gathered_dimensions(op: ir.Operation, nest: LoopNest, load: ir.Operation, number: int) -> list[int]:
    """The dimensions of its table that ``load`` may be anywhere in, if one of them by a number that is loaded."""
    indices = nest.loads[number]
    if load.block != op.regions[0].blocks[0] or is_made_inside(load.operands[0], op):
        return []
    anywhere = [d for d, index in enumerate(indices) if index.plain_loop is None and not _is_constant(index)]
    return [] if all(indices[dimension].linear for dimension in anywhere) else anywhere


def _is_constant(index: Index) -> bool:
    return index.linear and not any(index.coefficients)


def _blocks_of(op: ir.Operation, nest: LoopNest, load: ir.Operation, at: int, target: Target, largest: int) -> int:
    table = load.operands[0].type
    if _table_bytes(table, at, target) <= largest:
        return 1
    rows = prod(nest.extents[loop] for loop in loops_of(load.operands[1 + at], op, nest))
    found = 4 * rows + element_type(str(table.element_type)).bytes * prod(nest.extents)
    tiles = target.tiles_per_ipu - target.io_tiles
    return blocks_of_rows(*_rows_of(table, at), tiles, -(-found // tiles), target.bytes_per_tile // _ENOUGH)


def _rows_of(table: ir.RankedTensorType, at: int) -> tuple[int, int]:
    """How many rows a table has that is gathered from along dimension ``at``, and the bytes of each."""
    columns = prod(size for dimension, size in enumerate(table.shape) if dimension != at)
    return table.shape[at], columns * element_type(str(table.element_type)).bytes


def _table_bytes(table: ir.RankedTensorType, at: int, target: Target) -> int:
    """The bytes of a table on a tile if its columns alone are shared out."""
    rows, row_bytes = _rows_of(table, at)
    return rows * _columns_bytes(row_bytes, target.tiles_per_ipu - target.io_tiles)


def _columns_bytes(row_bytes: int, num_tiles: int) -> int:
    """The bytes of a row on a tile, in words of 8, if that many tiles share it out."""
    words = -(-row_bytes // 8)
    return min(-(-words // num_tiles) * 8, row_bytes)


def blocks_of_rows(rows: int, row_bytes: int, num_tiles: int, found_bytes: int, enough: int) -> int:
    """Into how many blocks of rows a table is cut, whose columns share out what tiles are left; 1 for none.

    That is, the fewest that leave at most a quarter more on the fullest tile than the best number does, or ``enough``.
    If no blocks of the same size come close to the best number, the last one has fewer rows.

    Args:
        found_bytes: on a tile for each block: what is found in it, and in which rows.

    >>> blocks_of_rows(rows=100_000, row_bytes=256, num_tiles=1472, found_bytes=0, enough=40_000)
    20
    >>> blocks_of_rows(rows=1 << 20, row_bytes=4, num_tiles=1472, found_bytes=5700, enough=40_000)
    16
    >>> blocks_of_rows(rows=1_000_003, row_bytes=4, num_tiles=1472, found_bytes=5700, enough=40_000)
    14
    """

    def fullest(blocks: int) -> int:
        return -(-rows // blocks) * _columns_bytes(row_bytes, num_tiles // blocks) + blocks * found_bytes

    numbers = range(1, min(rows, num_tiles) + 1)
    best, even = min(map(fullest, numbers)), [blocks for blocks in numbers if rows % blocks == 0]
    if min(map(fullest, even)) <= 2 * max(best, enough):
        numbers, best = even, min(map(fullest, even))
    limit = max(5 * best // 4, enough)
    fits = (blocks for blocks in numbers if fullest(blocks) <= limit and 2 * fullest(blocks) <= fullest(1))
    return min(fits, default=1)


def _spread(op: ir.Operation, nest: LoopNest, number: int, at: int, blocks: int) -> None:
    """Let ``op`` gather from what another op before it finds in ``blocks`` blocks of the table of load ``number``."""
    load = loads_in(op)[number]
    table = load.operands[0]
    block_rows = -(-table.type.shape[at] // blocks)
    with ir.InsertionPoint(op), op.location:
        loops = loops_of(load.operands[1 + at], op, nest)
        rows = rows_asked_for(op, nest, load.operands[1 + at], loops, table.type.shape[at])
        in_blocks = _in_blocks(rows, blocks, block_rows)
        block = elementwise(rows, rows.type.element_type, lambda row: _quotient(row, block_rows)).results[0]
        found = _from_each_block(nest, number, at, loops, _table_in_blocks(table, at, blocks), in_blocks)
    arith, tensor = upstream("arith"), upstream("tensor")
    with ir.InsertionPoint(load), load.location:
        places = [loop_index(loop) for loop in range(len(nest.extents))]
        here = tensor.ExtractOp(block, [places[loop] for loop in loops]).result
        here = arith.IndexCastOp(ir.IndexType.get(), here).result
        load.results[0].replace_all_uses_with(tensor.ExtractOp(found, [here, *places]).result)
    load.erase()


def loops_of(index: ir.Value, op: ir.Operation, nest: LoopNest) -> list[int]:
    """The loops of ``op`` that ``index``, a value in its body, depends on, rising."""
    loops: set[int] = set()
    pending, seen = [index], {index}
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, ir.Block):
            if owner == op.regions[0].blocks[0]:
                indices = nest.indices[value.arg_number]
                loops.update(loop for each in indices for loop, c in enumerate(each.coefficients) if c)
            continue
        if owner.name == "linalg.index":
            loops.add(ir.IntegerAttr(owner.operation.attributes["dim"]).value)
        if is_made_inside(value, op):
            inner = operands_from_outside(owner.operation)
            pending += [each for each in inner if each not in seen]
            seen.update(inner)
    return sorted(loops)


def rows_asked_for(op: ir.Operation, nest: LoopNest, index: ir.Value, loops: list[int], size: int) -> ir.Value:
    """The nearest of ``size`` rows to ``index``, a value in the body of ``op``, per iteration of ``loops``."""
    own = op.regions[0].blocks[0]
    used = [n for n in range(nest.num_inputs) if _depends_on(nest, n, loops) and is_used(own.arguments[n])]
    maps = [_of_loops(op.attributes["indexing_maps"][number].value, loops) for number in used]
    extents = [nest.extents[loop] for loop in loops]
    number = ir.IntegerType.get_signless(32)

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        known: Known = {own.arguments[n]: argument for n, argument in zip(used, arguments, strict=False)}
        for each in own.operations:
            if each.operation.name == "linalg.index":
                loop = ir.IntegerAttr(each.operation.attributes["dim"]).value
                if loop in loops:
                    known[each.operation.results[0]] = loop_index(loops.index(loop))
        copied = clone_slice(index, known, lambda value: is_made_inside(value, op))
        return [upstream("arith").IndexCastOp(number, _kept_within(copied, size)).result]

    outputs = [identity_map(len(loops))]
    empty = upstream("tensor").EmptyOp(extents, number).result
    inputs, maps = with_extents([op.operands[n] for n in used], maps, outputs, extents)
    return generic(inputs, [empty], [*maps, *outputs], [True] * len(loops), body).results[0]


def _kept_within(index: ir.Value, size: int) -> ir.Value:
    """``index``, or the nearest number from 0 on that is below ``size``."""
    low, high = IndexRanges().of(index)
    arith = upstream("arith")
    if low < 0:
        index = arith.MaxSIOp(index, constant_index(0)).result
    return index if high < size else arith.MinSIOp(index, constant_index(size - 1)).result


def _depends_on(nest: LoopNest, number: int, loops: list[int]) -> bool:
    """True if an element of operand ``number`` depends on some of ``loops`` alone, or on none."""
    indices = nest.indices[number]
    return all(loop in loops for each in indices for loop, c in enumerate(each.coefficients) if c)


def _of_loops(affine_map: ir.AffineMap, loops: list[int]) -> ir.AffineMap:
    """``affine_map``, which names no other loops than ``loops``, in terms of these alone."""
    new = {loop: ir.AffineExpr.get_dim(position) for position, loop in enumerate(loops)}
    dims = [new.get(loop, ir.AffineExpr.get_constant(0)) for loop in range(affine_map.n_dims)]
    through = ir.AffineMap.get(len(loops), 0, dims)
    return ir.AffineMap.get(len(loops), 0, [each.compose(through) for each in affine_map.results])


def _in_blocks(rows: ir.Value, blocks: int, block_rows: int) -> ir.Value:
    """The number of each of ``rows`` in each block, or of the nearest row there: ``blocks`` x their shape."""
    loops = rows.type.rank + 1
    arith, element = upstream("arith"), rows.type.element_type

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        block = arith.IndexCastOp(element, loop_index(0)).result
        row = arith.SubIOp(arguments[0], arith.MulIOp(block, _integer(element, block_rows)).result).result
        row = arith.MaxSIOp(row, _integer(element, 0)).result
        return [arith.MinSIOp(row, _integer(element, block_rows - 1)).result]

    behind = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(loop) for loop in range(1, loops)])
    extents = [blocks, *rows.type.shape]
    empty = upstream("tensor").EmptyOp(extents, element).result
    inputs, maps = with_extents([rows], [behind], [identity_map(loops)], extents)
    return generic(inputs, [empty], [*maps, identity_map(loops)], [True] * loops, body).results[0]


def _quotient(row: ir.Value, block_rows: int) -> ir.Value:
    return upstream("arith").DivUIOp(row, _integer(row.type, block_rows)).result


def _integer(kind: ir.Type, number: int) -> ir.Value:
    return upstream("arith").ConstantOp(kind, number).result


def _table_in_blocks(table: ir.Value, at: int, blocks: int) -> ir.Value:
    """``table`` with dimension ``at`` as two: blocks, and the rows in them, of which nobody asks for the last ones."""
    tensor, shape, element = upstream("tensor"), list(table.type.shape), table.type.element_type
    rows = -(-shape[at] // blocks)
    if blocks * rows > shape[at]:
        whole = tensor.EmptyOp([*shape[:at], blocks * rows, *shape[at + 1 :]], element).result
        whole = fill_with(zero(element), whole).results[0]
        table = tensor.InsertSliceOp(table, whole, [], [], [], [0] * len(shape), shape, [1] * len(shape)).result
    expanded = [*shape[:at], blocks, rows, *shape[at + 1 :]]
    groups = [*([d] for d in range(at)), [at, at + 1], *([d + 1] for d in range(at + 1, len(shape)))]
    return tensor.ExpandShapeOp(ir.RankedTensorType.get(expanded, element), table, groups, [], expanded).result


def _place(index: Index, row: ir.Value) -> ir.Value:
    """One index of a load that is made behind the loop over blocks."""
    if _is_constant(index):
        return constant_index(index.constant)
    return row if index.plain_loop is None else loop_index(index.plain_loop + 1)


def _from_each_block(
    nest: LoopNest, number: int, at: int, loops: list[int], table: ir.Value, rows: ir.Value
) -> ir.Value:
    """What load ``number`` finds in each block of ``table`` in ``rows``: blocks x the loops around it."""
    arith, tensor = upstream("arith"), upstream("tensor")
    extents = [table.type.shape[at], *nest.extents]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        row = arith.IndexCastOp(ir.IndexType.get(), arguments[0]).result
        places = [_place(index, row) for index in nest.loads[number]]
        return [tensor.ExtractOp(table, [*places[:at], loop_index(0), *places[at:]]).result]

    read = ir.AffineMap.get(
        len(extents), 0, [ir.AffineExpr.get_dim(loop) for loop in (0, *(loop + 1 for loop in loops))]
    )
    empty = tensor.EmptyOp(extents, table.type.element_type).result
    whole = identity_map(len(extents))
    inputs, maps = with_extents([rows], [read], [whole], extents)
    return generic(inputs, [empty], [*maps, whole], [True] * len(extents), body).results[0]
