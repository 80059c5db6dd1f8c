"""Counts of what comes before an element: what frontends make of a stable sort."""

from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.raising.ranks.both_sides import SideNames
from ipu_mlir.passes.raising.ranks.sort_orders import (
    EQUAL,
    GREATER,
    LESS,
    of_floats,
    relations_of,
    sort_order,
)

_TURNED = {LESS: GREATER, GREATER: LESS}
_LOGIC = ("arith.andi", "arith.ori", "arith.xori", "arith.cmpi", "arith.select")


@dataclass(frozen=True)
class Key:
    """One thing to sort by: ``value``, as the body of the count has it for its own element."""

    value: ir.Value
    unsigned: bool
    descending: bool


@dataclass(frozen=True)
class RankCount:
    """``result[i] = number of j with element j before element i``, in a stable sort by ``keys``, the first one first.

    Attributes:
        nest: the loops of the op.
        order: the loop of each dimension of the result.
        at: the dimension of the result that is ``i``.
        keys: what is compared.
    """

    nest: LoopNest
    order: tuple[int, ...]
    at: int
    keys: tuple[Key, ...]

    @property
    def size(self) -> int:
        """The number of elements that are ranked among each other."""
        return self.nest.extents[self.order[self.at]]


def rank_count(op: ir.Operation) -> RankCount | None:
    """The ranking that ``op`` is, if it counts the elements before each element of a dimension."""
    nest = loop_nest(op) if op.name == "linalg.generic" and "library_call" not in op.attributes else None
    if nest is None or len(op.results) != 1 or nest.parallel.count(False) != 1:
        return None
    order = tuple(index.plain_loop for index in nest.outputs[0])
    counted = _counted(op)
    among = nest.parallel.index(False)
    if counted is None or None in order or len(order) + 1 != len(nest.extents):
        return None
    if not _starts_at_zero(op.operands[nest.num_inputs]) or not _can_hold(op.results[0].type, nest.extents[among]):
        return None
    for at, own in enumerate(order):
        if own is not None and nest.extents[own] == nest.extents[among]:
            keys = _Condition(SideNames(op, nest), own, among).keys(counted)
            if keys is not None:
                return RankCount(nest, tuple(loop for loop in order if loop is not None), at, keys)
    return None


def _counted(op: ir.Operation) -> ir.Value | None:
    """The condition that ``op`` counts: it yields ``select(c, old + 1, old)`` or ``old + extui(c)``."""
    block = op.regions[0].blocks[0]
    old = block.arguments[len(block.arguments) - 1]
    made = defining_op(terminator(block).operands[0], "arith.select", "arith.addi")
    if made is None:
        return None
    if made.name == "arith.select":
        added = defining_op(made.operands[1], "arith.addi")
        one = None if added is None else _other(added, old)
        adds_one = one is not None and integer_of(one) == 1
        return made.operands[0] if adds_one and made.operands[2] == old else None
    other = _other(made, old)
    term = None if other is None else defining_op(other, "arith.extui", "arith.index_castui")
    return term.operands[0] if term is not None and str(term.operands[0].type) == "i1" else None


@dataclass
class _Condition:
    """Reads a condition on elements of two loops: ``among`` runs over those that may come before that of ``own``."""

    names: SideNames
    own: int
    among: int
    found: dict[int, tuple[ir.Value, set[str]]] = field(default_factory=dict)

    def keys(self, condition: ir.Value) -> tuple[Key, ...] | None:
        """The keys of the sort, or None if the condition is not the order of one."""
        if not self._read(condition):
            return None
        numbers = list(self.found)
        kinds = [self.found[number] for number in numbers]
        if any(len(signs) > 1 or not _can_be_key(value.type) for value, signs in kinds):
            return None
        has_nan = [not isinstance(value.type, ir.IntegerType | ir.IndexType) for value, _ in kinds]
        order = sort_order(
            lambda relations, place: self._holds(condition, dict(zip(numbers, relations, strict=True)), place), has_nan
        )
        if order is None:
            return None
        return tuple(Key(kinds[key][0], "u" in kinds[key][1], descending) for key, descending in order)

    def _read(self, value: ir.Value) -> bool:
        """Find the keys in ``value``; False if it is not made of comparisons of the same thing on both sides."""
        op = defining_op(value)
        if op is None:
            return False
        if op.name == "arith.constant":
            return str(value.type) == "i1"
        compared = self._comparison(op)
        if compared is not None:
            number, own, _, predicate = compared
            if number != self.names.place:
                signs = self.found.setdefault(number, (own, set()))[1]
                signs.update(predicate[0] for _ in range(op.name == "arith.cmpi" and len(predicate) == 3))
            return True
        if op.name not in _LOGIC or any(str(operand.type) != "i1" for operand in op.operands):
            return False
        return all(self._read(operand) for operand in op.operands)

    def _comparison(self, op: ir.Operation) -> tuple[int, ir.Value, bool, str] | None:
        """The key that ``op`` compares, its value for the own element, whether that stands first, the predicate."""
        if op.name not in ("arith.cmpi", "arith.cmpf"):
            return None
        predicate = predicate_of(op)
        first, second = op.operands
        for own, other, turned in ((second, first, False), (first, second, True)):
            number = self.names.name(own, self.own, self.among)
            if number in self.names.varying and number == self.names.name(other, self.among, self.own):
                assert number is not None, "what varies has a number"
                return number, own, turned, predicate
        return None

    def _holds(self, value: ir.Value, relations: dict[int, str], place: str) -> bool:
        """True if ``value`` is true where the keys, and the places, of the other element and the own compare so."""
        op = defining_op(value)
        assert op is not None, "read before"
        if op.name == "arith.constant":
            return bool(ir.IntegerAttr(op.attributes["value"]).value)
        compared = self._comparison(op)
        if compared is not None:
            number, _, turned, predicate = compared
            relation = place if number == self.names.place else relations[number]
            holds_of = relations_of(predicate) if op.name == "arith.cmpi" else of_floats(predicate)
            return (_TURNED.get(relation, relation) if turned else relation) in holds_of
        held = [self._holds(operand, relations, place) for operand in op.operands]
        return _logic(op, held)


def _logic(op: ir.Operation, held: list[bool]) -> bool:
    match op.name:
        case "arith.andi":
            return held[0] and held[1]
        case "arith.ori":
            return held[0] or held[1]
        case "arith.xori":
            return held[0] != held[1]
        case "arith.select":
            return held[1] if held[0] else held[2]
        case _:
            predicate = predicate_of(op)
            first, second = (-int(each) if predicate[0] == "s" else int(each) for each in held)
            return (EQUAL if first == second else LESS if first < second else GREATER) in relations_of(predicate)


def _starts_at_zero(value: ir.Value) -> bool:
    """True if every element of ``value`` is the constant 0."""
    op = defining_op(value, "linalg.fill", "linalg.generic")
    if op is None:
        return False
    if op.name == "linalg.fill":
        return integer_of(op.operands[0]) == 0
    is_plain = "library_call" not in op.attributes and len(op.results) == 1
    return is_plain and integer_of(terminator(op.regions[0].blocks[0]).operands[0]) == 0


def _can_hold(result: ir.RankedTensorType, count: int) -> bool:
    element = result.element_type
    return isinstance(element, ir.IndexType) or (
        isinstance(element, ir.IntegerType) and count < 1 << (element.width - 1)
    )


def _can_be_key(element: ir.Type) -> bool:
    floats = ir.F16Type | ir.BF16Type | ir.F32Type | ir.F64Type
    return isinstance(element, floats | ir.IndexType) or (isinstance(element, ir.IntegerType) and element.width <= 64)


def _other(op: ir.Operation, value: ir.Value) -> ir.Value | None:
    """The operand of a sum that is not ``value``."""
    first, second = op.operands
    return second if first == value else first if second == value else None
