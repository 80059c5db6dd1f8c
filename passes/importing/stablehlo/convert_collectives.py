"""``ipu-convert-collectives``: collectives of StableHLO as those of replicas."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op, transposed
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

COLLECTIVES = (
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.partition_id",
    "stablehlo.reduce_scatter",
    "stablehlo.replica_id",
)
_SIZES = ("mhlo.num_partitions", "mhlo.num_replicas")
_REDUCTIONS = {"add": "add", "multiply": "mul", "minimum": "min", "maximum": "max", "and": "and", "or": "or"}

Groups = tuple[tuple[int, ...], ...]


class ConvertCollectives(Pass):
    """Write collectives of StableHLO as ``ipu.all_reduce``, ``ipu.all_gather`` and their kin.

    A partition or a replica of the program is a replica of the target. Groups of replicas that are not consecutive, as
    those along the first axis of a mesh of two axes, gather the values of all replicas and take those of their group;
    so do permutations. The module says how many there are: ``mhlo.num_partitions`` times ``mhlo.num_replicas``.

    Needs:  StableHLO of static shapes.
    Leaves: no collective of StableHLO; complex values are exchanged as their parts, unsigned ones as their bits.
    """

    name = "ipu-convert-collectives"

    def run(self, module: ir.Operation) -> None:
        ops = list_ops(module, *COLLECTIVES)
        if not ops:
            return
        replicas = number_of_replicas(module)
        with module.context, Refusals() as refuse:
            broken = [(op, reason) for op in ops if (reason := _broken(op, replicas)) is not None]
            for op, reason in broken:
                refuse(op, reason)
        with module.context:
            for op in ops:
                with ir.InsertionPoint(op), op.location:
                    replace_op(op, _Replacement(op, replicas).values())


def number_of_replicas(module: ir.Operation) -> int:
    """How many copies of the program run: by what the module says, or by its largest group."""
    given = [ir.IntegerAttr(module.attributes[name]).value for name in _SIZES if name in module.attributes]
    groups = [_groups(op, 0) for op in list_ops(module, *COLLECTIVES)]
    return max(int(np.prod(given)), *(1 + max(max(g, default=0) for g in each) for each in groups if each), 1, 1)


def _broken(op: ir.Operation, replicas: int) -> str | None:
    """Why ``op`` cannot be written as collectives of replicas, as the end of a sentence."""
    name = op.name.removeprefix("stablehlo.")
    shaped = [value.type for value in (*op.operands, *op.results)]
    if any(not kind.has_static_shape for kind in shaped):
        return "has sizes that are not known; export the program for fixed sizes"
    if name in ("all_reduce", "reduce_scatter") and _reduction(op) is None:
        return "combines values by more than one op; it may be add, multiply, minimum, maximum, and, or"
    if name in ("partition_id", "replica_id", "collective_permute"):
        return None
    groups = _groups(op, replicas)
    if sorted(number for group in groups for number in group) != list(range(replicas)):
        return f"has groups that do not hold each of the {replicas} replicas once"
    if len({len(group) for group in groups}) != 1:
        return "has groups of different sizes"
    return None


def _reduction(op: ir.Operation) -> str | None:
    """The one op by which a collective combines values, without its dialect."""
    block = op.regions[0].blocks[0]
    inner = [each.operation for each in block.operations]
    if len(inner) != 2 or list(terminator(block).operands) != list(inner[0].results):
        return None
    name = inner[0].name.removeprefix("stablehlo.")
    is_of_both = {*inner[0].operands} == {*block.arguments} and len(inner[0].operands) == 2
    return name if is_of_both and name in _REDUCTIONS else None


def _groups(op: ir.Operation, replicas: int) -> Groups:
    """The replicas of each group; one of all where there are none."""
    if "replica_groups" not in op.attributes:
        return ()
    table = np.array(ir.DenseIntElementsAttr(op.attributes["replica_groups"])).tolist()
    found = tuple(tuple(number for number in row if number >= 0) for row in table)
    return found if any(found) else (tuple(range(replicas)),)


class _Replacement:
    """What stands in the place of one collective, at the insertion point."""

    def __init__(self, op: ir.Operation, replicas: int) -> None:
        self.op, self.replicas = op, replicas
        self.name = op.name.removeprefix("stablehlo.")
        self.groups = _groups(op, replicas)
        self.size = len(self.groups[0]) if self.groups else replicas
        self.consecutive = self.groups == tuple(
            tuple(range(begin, begin + self.size)) for begin in range(0, replicas, self.size)
        )

    def values(self) -> list[ir.Value]:
        if self.name in ("partition_id", "replica_id"):
            unsigned = self.op.results[0].type
            return [stablehlo_op("stablehlo.bitcast_convert", unsigned, [self.index()])]
        kinds = [value.type for value in self.op.results]
        return [self.of_any(value, kind) for value, kind in zip(self.op.operands, kinds, strict=True)]

    def of_any(self, value: ir.Value, kind: Any) -> ir.Value:
        """The result of type ``kind`` for elements of any type."""
        element = kind.element_type
        if isinstance(element, ir.ComplexType):
            part = _with(kind, element.element_type)
            taken = _with(value.type, element.element_type)
            parts = [self.of_one(stablehlo_op(f"stablehlo.{half}", taken, [value]), part) for half in ("real", "imag")]
            return stablehlo_op("stablehlo.complex", kind, parts)
        if isinstance(element, ir.IntegerType) and element.is_unsigned and not self.is_ordered(kind):
            signless = ir.IntegerType.get_signless(element.width)
            bits = stablehlo_op("stablehlo.bitcast_convert", _with(value.type, signless), [value])
            return stablehlo_op("stablehlo.bitcast_convert", kind, [self.of_one(bits, _with(kind, signless))])
        return self.of_one(value, kind)

    def is_ordered(self, kind: Any) -> bool:
        """True if the elements are compared, which their sign decides."""
        return self.name in ("all_reduce", "reduce_scatter") and _reduction(self.op) in ("minimum", "maximum")

    def of_one(self, value: ir.Value, kind: Any) -> ir.Value:
        return getattr(self, self.name)(value, kind)

    def all_reduce(self, value: ir.Value, kind: Any) -> ir.Value:
        if self.consecutive and self.combines(kind):
            return self.ipu("all_reduce", kind, value, op=ir.StringAttr.get(_REDUCTIONS[_reduction(self.op) or ""]))
        return self.reduced(self.members(value))

    def all_gather(self, value: ir.Value, kind: Any) -> ir.Value:
        return self.joined(self.members(value), self.number("all_gather_dim"), kind)

    def reduce_scatter(self, value: ir.Value, kind: Any) -> ir.Value:
        along = self.number("scatter_dimension")
        if not (self.consecutive and self.combines(kind)):
            return self.own_block(self.reduced(self.members(value)), along, kind)
        order = [along, *(axis for axis in range(kind.rank) if axis != along)]
        first = transposed(value, order)
        flat = ir.RankedTensorType.get([int(np.prod(first.type.shape))], kind.element_type)
        block = ir.RankedTensorType.get([flat.shape[0] // self.size], kind.element_type)
        name = ir.StringAttr.get(_REDUCTIONS[_reduction(self.op) or ""])
        mine = self.ipu("reduce_scatter", block, stablehlo_op("stablehlo.reshape", flat, [first]), op=name)
        cut = ir.RankedTensorType.get([kind.shape[axis] for axis in order], kind.element_type)
        back = [order.index(axis) for axis in range(kind.rank)]
        return transposed(stablehlo_op("stablehlo.reshape", cut, [mine]), back)

    def all_to_all(self, value: ir.Value, kind: Any) -> ir.Value:
        split, concat = self.number("split_dimension"), self.number("concat_dimension")
        if self.consecutive:
            number = ir.IntegerType.get_signless(64)
            fields = {"split_dimension": split, "concat_dimension": concat}
            attributes = {name: ir.IntegerAttr.get(number, each) for name, each in fields.items()}
            return self.ipu("all_to_all", kind, value, **attributes)
        every = self.members(value)
        shape = list(every.type.shape)
        shape[1 + split] //= self.size
        mine = self.own_block(every, 1 + split, ir.RankedTensorType.get(shape, kind.element_type))
        return self.joined(mine, concat, kind)

    def collective_broadcast(self, value: ir.Value, kind: Any) -> ir.Value:
        return _row(self.members(value), full(_index_type(), 0), kind)

    def collective_permute(self, value: ir.Value, kind: Any) -> ir.Value:
        """The value of the replica that sends to this one; zeros where there is none."""
        source = np.full(self.replicas, -1, np.int32)
        for begin, end in np.array(ir.DenseIntElementsAttr(self.op.attributes["source_target_pairs"])).reshape(-1, 2):
            source[end] = begin
        sender = self.looked_up(source)
        received = _row(self.ipu("all_gather", _stacked(kind, self.replicas), value), sender, kind)
        if (source >= 0).all():
            return received
        truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        direction = ir.Attribute.parse("#stablehlo<comparison_direction GE>")
        is_sent = stablehlo_op(
            "stablehlo.compare", truth, [sender, full(_index_type(), 0)], {"comparison_direction": direction}
        )
        return stablehlo_op("stablehlo.select", kind, [is_sent, received, full(kind, 0)])

    def combines(self, kind: Any) -> bool:
        """True if ``ipu.all_reduce`` combines such elements."""
        element = kind.element_type
        is_integer = isinstance(element, ir.IntegerType)
        is_bool = is_integer and element.width == 1
        is_unsigned = is_integer and element.is_unsigned
        return not is_unsigned and is_bool == (_reduction(self.op) in ("and", "or"))

    def members(self, value: ir.Value) -> ir.Value:
        """The values of the replicas of the group, along a new first dimension."""
        if self.consecutive:
            return self.ipu("all_gather", _stacked(value.type, self.size), value)
        every = self.ipu("all_gather", _stacked(value.type, self.replicas), value)
        table = np.zeros((self.replicas, self.size), np.int32)
        for group in self.groups:
            table[list(group)] = group
        rows = []
        for place in range(self.size):
            row = _row(every, self.looked_up(table[:, place]), value.type)
            rows.append(stablehlo_op("stablehlo.reshape", _stacked(value.type, 1), [row]))
        along = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        return stablehlo_op("stablehlo.concatenate", _stacked(value.type, self.size), rows, along)

    def reduced(self, members: ir.Value) -> ir.Value:
        """The values of a group, combined in their order."""
        _, *shape = members.type.shape
        kind = ir.RankedTensorType.get(shape, members.type.element_type)
        combine = f"stablehlo.{_reduction(self.op)}"
        rows = [_row(members, full(_index_type(), place), kind) for place in range(self.size)]
        found = rows[0]
        for row in rows[1:]:
            found = stablehlo_op(combine, kind, [found, row])
        return found

    def joined(self, members: ir.Value, along: int, kind: Any) -> ir.Value:
        """The values of a group, put together along a dimension that they have."""
        rank = members.type.rank
        order = [*range(1, along + 1), 0, *range(along + 1, rank)]
        return stablehlo_op("stablehlo.reshape", kind, [transposed(members, order)])

    def own_block(self, value: ir.Value, along: int, kind: Any) -> ir.Value:
        """Block r along a dimension for number r of the group."""
        place = np.zeros(self.replicas, np.int32)
        for group in self.groups:
            place[list(group)] = np.arange(len(group))
        number = stablehlo_op(
            "stablehlo.multiply", _index_type(), [self.looked_up(place), full(_index_type(), kind.shape[along])]
        )
        zero = full(_index_type(), 0)
        return _slice(value, [number if axis == along else zero for axis in range(kind.rank)], kind)

    def looked_up(self, table: np.ndarray) -> ir.Value:
        """The entry of ``table`` for this replica, a scalar."""
        kind = ir.RankedTensorType.get([len(table)], _index_type().element_type)
        value = ir.DenseElementsAttr.get(np.ascontiguousarray(table, np.int32), type=_index_type().element_type)
        constant = stablehlo_op("stablehlo.constant", kind, [], {"value": value})
        return _row(constant, self.index(), _index_type())

    def index(self) -> ir.Value:
        return ir.Operation.create("ipu.replica_index", [_index_type()]).results[0]

    def ipu(self, name: str, kind: Any, value: ir.Value, **attributes: ir.Attribute) -> ir.Value:
        """The collective of consecutive replicas called ``name``."""
        if self.groups and self.consecutive and self.size < self.replicas:
            attributes["group"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.size)
        return ir.Operation.create(f"ipu.{name}", [kind], [value], attributes).results[0]

    def number(self, name: str) -> int:
        return ir.IntegerAttr(self.op.attributes[name]).value


def _index_type() -> Any:
    return ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))


def _with(kind: Any, element: ir.Type) -> Any:
    return ir.RankedTensorType.get(kind.shape, element)


def _stacked(kind: Any, count: int) -> Any:
    return ir.RankedTensorType.get([count, *kind.shape], kind.element_type)


def _row(values: ir.Value, number: ir.Value, kind: Any) -> ir.Value:
    """Row ``number`` of the first dimension, as a tensor of type ``kind``."""
    zero = full(_index_type(), 0)
    row = _slice(values, [number, *[zero] * kind.rank], _stacked(kind, 1))
    return stablehlo_op("stablehlo.reshape", kind, [row])


def _slice(value: ir.Value, begins: Sequence[ir.Value], kind: Any) -> ir.Value:
    sizes = {"slice_sizes": ir.DenseI64ArrayAttr.get(kind.shape)}
    return stablehlo_op("stablehlo.dynamic_slice", kind, [value, *begins], sizes)
