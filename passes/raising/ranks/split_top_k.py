"""``ipu-split-top-k``: the largest elements of long rows, by parts."""

from functools import cache
from math import prod

from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.top_k import TOP_K, top_k_cycles
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.costs.moves import multi_slice_cycles
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map, loop_index, reshaped
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

arith, tensor = upstream("arith"), upstream("tensor")

_STEPS = 6  # supersteps for each time that a row is cut


class SplitTopK(Pass):
    """Find the largest elements of long rows in parts of them, and then among what was found in each, in parts again.

    A vertex looks at a whole row; parts lie on as many tiles, of one IPU. Of those that are equal the first one counts
    as larger in a part as in the row, for parts are in order. Where a row is no multiple of its parts, there are
    elements behind it that come last.

    Needs:  calls of the codelet ``top_k`` (``ipu-expand-top-k``), and the target.
    Leaves: none whose estimate is less in several steps.
    """

    name = "ipu-split-top-k"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                if "library_call" not in op.attributes or _called(op) != TOP_K.name:
                    continue
                count, tiles = op.results[0].type.shape[-1], target.num_compute_tiles // target.ipus
                with ir.InsertionPoint(op), op.location:
                    found = _in_parts(op.operands[0], count, tiles, machine_of(target))
                if found is not None:
                    replace_op(op, [found])


def _called(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["library_call"]).value


def parts_of_rows(rows: int, n: int, k: int, dtype: str, num_tiles: int, machine: Machine) -> int:
    """Into how many parts each of ``rows`` is cut, a power of two; 1 where one step takes less.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> parts_of_rows(1, 100_000, 8, "i32", 1472, IPU2), parts_of_rows(1472, 100, 8, "i32", 1472, IPU2)
    (1024, 1)
    """
    key_bytes = element_type(dtype).bytes

    @cache
    def cycles(n: int, parts: int) -> int:
        """With the steps that find the largest among those that are found in parts."""
        width, share = -(-n // parts), -(-rows * parts // num_tiles)
        found = int(top_k_cycles(share, width, k, dtype, machine))
        if share * width * key_bytes > machine.bytes_per_tile // 2:
            found += 1 << 40  # there is no room for them
        if parts == 1:
            return found
        moved = share * k * (key_bytes + 4)
        gathered = int(multi_slice_cycles(share * k, 1, dtype, machine)) + int(cycles_for_bytes(moved, moved, machine))
        return found + gathered + _STEPS * machine.sync_cycles + cycles(parts * k, best(parts * k))

    def best(n: int) -> int:
        choices = [1 << power for power in range(num_tiles.bit_length()) if (k << power) < n]
        return min(choices, key=lambda parts: cycles(n, parts), default=1)

    return best(n)


def _in_parts(keys: ir.Value, count: int, num_tiles: int, machine: Machine) -> ir.Value | None:
    """The places of the ``count`` largest elements, at the current insertion point; None where one step takes less."""
    *stack, n = keys.type.shape
    parts = parts_of_rows(prod(stack), n, count, str(keys.type.element_type), num_tiles, machine)
    if parts == 1:
        return None
    width, shape = -(-n // parts), [*stack, count]
    number, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    padded = _padded(keys, parts * width)
    in_parts = _last_as(padded, [*stack, parts, width])
    (inside,) = call_codelet(TOP_K.name, [in_parts], [[*stack, parts, count]], [number])
    rank = len(stack)

    def key_and_place(arguments: list[ir.Value]) -> list[ir.Value]:
        at = [*map(loop_index, range(rank + 1)), arith.IndexCastOp(index, arguments[0]).result]
        begin = arith.MulIOp(at[rank], arith.ConstantOp(index, width).result).result
        place = arith.IndexCastOp(number, arith.AddIOp(begin, at[-1]).result).result
        return [tensor.ExtractOp(in_parts, at).result, place]

    empties = [tensor.EmptyOp([*stack, parts, count], each).result for each in (keys.type.element_type, number)]
    maps = [identity_map(rank + 2)] * 3
    found = generic([inside], empties, maps, [True] * (rank + 2), key_and_place)
    best, places = (_last_as(result, [*stack, parts * count]) for result in found.results)
    among = _in_parts(best, count, num_tiles, machine)
    if among is None:
        (among,) = call_codelet(TOP_K.name, [best], [shape], [number])

    def place_of(arguments: list[ir.Value]) -> list[ir.Value]:
        at = [*map(loop_index, range(rank)), arith.IndexCastOp(index, arguments[0]).result]
        return [tensor.ExtractOp(places, at).result]

    empty = tensor.EmptyOp(shape, number).result
    return generic([among], [empty], [identity_map(rank + 1)] * 2, [True] * (rank + 1), place_of).results[0]


def _padded(keys: ir.Value, width: int) -> ir.Value:
    """``keys`` with the least of all integers behind each row."""
    shape, element = list(keys.type.shape), keys.type.element_type
    if shape[-1] == width:
        return keys
    least = arith.ConstantOp(element, ir.IntegerAttr.get(element, -(1 << (element.width - 1)))).result
    filled = fill_with(least, tensor.EmptyOp([*shape[:-1], width], element).result).results[0]
    return tensor.insert_slice(keys, filled, [], [], [], [0] * len(shape), shape, [1] * len(shape))


def _last_as(value: ir.Value, shape: list[int]) -> ir.Value:
    """``value`` with its last dimensions cut or put together, so that its shape is ``shape``."""
    return value if list(value.type.shape) == shape else reshaped(value, shape)
