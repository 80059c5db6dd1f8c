"""Names for the scalars in a body, so that two that differ only in the loop that they come from are the same."""

from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir

_OWN = ("loop", "own")
_INDEX_CASTS = ("arith.index_cast", "arith.index_castui")


@dataclass
class SideNames:
    """Numbers for values in the body of ``op``: equal for ``key(x[i])`` and ``key(x[j])`` if ``i`` and ``j`` are own.

    Attributes:
        op: a structured op with the loops ``nest``.
        varying: the numbers of values that change along their own loop.
    """

    op: ir.Operation
    nest: LoopNest
    varying: set[int] = field(default_factory=set)
    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    _known: dict[tuple[ir.Value, int], int | None] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """The number of the index of the own loop."""
        return self._number(_OWN, own=True)

    def name(self, value: ir.Value, own: int, other: int) -> int | None:
        """The number of ``value`` as seen from loop ``own``; None if it depends on ``other`` or is not understood."""
        if (value, own) not in self._known:
            self._known[value, own] = self._name(value, own, other)
        return self._known[value, own]

    def _name(self, value: ir.Value, own: int, other: int) -> int | None:
        if isinstance(value.owner, ir.Block):
            if value.owner != self.op.regions[0].blocks[0]:
                return self._number(("value", value))
            return self._argument(ir.BlockArgument(value).arg_number, own, other)
        op = value.owner.operation
        if op.name == "arith.constant":
            return self._number((op.name, str(op.attributes["value"])))
        if op.block != self.op.regions[0].blocks[0]:
            return self._number(("value", value))
        if op.name == "linalg.index":
            return self._loop(ir.IntegerAttr(op.attributes["dim"]).value, own, other)
        if op.name == "tensor.extract":
            at = [self.name(index, own, other) for index in list(op.operands)[1:]]
            return self._load(op.operands[0], at)
        if not op.name.startswith(("arith.", "math.")) or len(op.results) != 1 or len(op.regions):
            return None
        operands = [self.name(operand, own, other) for operand in op.operands]
        if op.name in _INDEX_CASTS and operands[0] == self.place and _can_count(value.type, self.nest.extents[own]):
            return operands[0]
        attributes = tuple((each, str(op.attributes[each])) for each in op.attributes)
        return self._made((op.name, attributes, str(value.type)), operands)

    def _argument(self, number: int, own: int, other: int) -> int | None:
        """A block argument: the element of an operand; those of outputs change from iteration to iteration."""
        if number >= self.nest.num_inputs:
            return None
        operand = self.op.operands[number]
        if not isinstance(operand.type, ir.ShapedType):
            return self._number(("value", operand))
        return self._load(operand, [self._index(index, own, other) for index in self.nest.indices[number]])

    def _index(self, index: Index, own: int, other: int) -> int | None:
        if index.plain_loop is not None:
            return self._loop(index.plain_loop, own, other)
        fixed = index.linear and not any(index.coefficients)
        return self._number(("arith.constant", f"{index.constant} : index")) if fixed else None

    def _loop(self, loop: int, own: int, other: int) -> int | None:
        if loop == other:
            return None
        return self.place if loop == own else self._number(("loop", loop))

    def _load(self, base: ir.Value, at: list[int | None]) -> int | None:
        along = _counts_along(base)
        if along is not None and None not in at:
            return at[along]
        return self._made(("load", base), at)

    def _made(self, kind: tuple[object, ...], operands: list[int | None]) -> int | None:
        known = [number for number in operands if number is not None]
        if len(known) < len(operands):
            return None
        return self._number((*kind, *known), own=not self.varying.isdisjoint(known))

    def _number(self, key: tuple[object, ...], *, own: bool = False) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        if own:
            self.varying.add(number)
        return number


def _counts_along(tensor: ir.Value) -> int | None:
    """The dimension whose index every element of ``tensor`` is, as of an iota; None for other tensors."""
    op = defining_op(tensor, "linalg.generic")
    if op is None or len(op.operands) != 1:
        return None
    value, sizes = terminator(op.regions[0].blocks[0]).operands[0], tensor.type.shape
    while (cast := defining_op(value, *_INDEX_CASTS)) is not None:
        if not all(_can_count(value.type, size) for size in sizes):
            return None
        value = cast.operands[0]
    index = defining_op(value, "linalg.index")
    if index is None:
        return None
    is_plain = (
        str(op.attributes["indexing_maps"]).count("affine_map") == 1
        and ir.AffineMap.get_identity(len(sizes))
        == ir.AffineMapAttr(ir.ArrayAttr(op.attributes["indexing_maps"])[0]).value
    )
    return ir.IntegerAttr(index.attributes["dim"]).value if is_plain else None


def _can_count(element: ir.Type, size: int) -> bool:
    """True if signed numbers of a type are in the order of the indices 0 to ``size`` - 1 that they are made of."""
    return isinstance(element, ir.IndexType) or size <= 1 << (ir.IntegerType(element).width - 1)
