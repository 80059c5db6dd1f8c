"""Ops on whole slices, as ops on one element of them."""

from dataclasses import dataclass, field
from math import prod

from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, integer_of, is_used
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import DYNAMIC


@dataclass
class Points:
    """Translates ops of ``loop`` to scalars: those at place ``at`` of tensors of ``shape``, in iteration ``counter``.

    Attributes:
        first, end: what the counter runs from and to.
        known: what stands for values that stay as they are, such as tensors that are filled.
        scalars: the element at the place, or the only one, of each tensor, and scalars.
    """

    loop: ir.Operation
    at: tuple[ir.Value, ...]
    shape: tuple[int, ...]
    counter: ir.Value
    first: int
    end: int
    known: Known
    scalars: Known = field(default_factory=dict)

    def counter_as(self, element: ir.Type) -> ir.Value:
        """The counter as an integer, at the current insertion point."""
        return upstream("arith").IndexCastOp(element, self.counter).result

    def translate(self, op: ir.Operation) -> bool:
        """Do what ``op`` does, at the current insertion point; False if that is not understood."""
        match op.name:
            case "tensor.empty":
                return True
            case "linalg.fill" | "tensor.from_elements":
                return self._wraps(op)
            case "linalg.generic":
                return self._element_wise(op)
            case "tensor.extract_slice":
                return self._takes(op)
            case "tensor.insert_slice":
                return self._puts(op)
            case "tensor.extract":
                return self._extracts(op)
        if not op.name.startswith(("arith.", "math.")) or len(op.results) != 1 or len(op.regions):
            return False
        if isinstance(op.results[0].type, ir.ShapedType):
            return False
        if self._is_counter(op):
            self.scalars[op.results[0]] = self.counter
        else:
            clone_into(op, self.scalars)
        return True

    def _is_counter(self, op: ir.Operation) -> bool:
        """True if ``op`` gives the counter as an index, or keeps it between bounds that it never leaves."""
        given = self.scalars.get(op.operands[0]) if len(op.operands) else None
        if given is None:
            return False
        if op.name == "arith.index_cast":
            owner = defining_op(given, "arith.index_cast")
            return owner is not None and owner.operands[0] == self.counter
        bound = integer_of(op.operands[1]) if given == self.counter and len(op.operands) == 2 else None
        if bound is None:
            return False
        return (op.name == "arith.maxsi" and bound <= self.first) or (
            op.name == "arith.minsi" and bound >= self.end - 1
        )

    def _wraps(self, op: ir.Operation) -> bool:
        scalar = op.operands[0]
        self.scalars[op.results[0]] = self.scalars.get(scalar, scalar)
        return self._is_point(op.results[0]) and len(op.operands) <= 2

    def _is_point(self, value: ir.Value) -> bool:
        shape = tuple(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else ()
        return shape in ((), self.shape)

    def _scalar(self, value: ir.Value) -> ir.Value | None:
        """The element of ``value`` at the place, or the only one."""
        if value not in self.scalars and self._is_point(value) and not self._is_inside(value):
            tensor = isinstance(value.type, ir.RankedTensorType)
            at = list(self.at) if tensor and value.type.rank else []
            self.scalars[value] = upstream("tensor").ExtractOp(value, at).result if tensor else value
        return self.scalars.get(value)

    def _is_inside(self, value: ir.Value) -> bool:
        """True if ``value`` belongs to the loop."""
        return block_of(value).owner.operation == self.loop

    def _element_wise(self, op: ir.Operation) -> bool:
        nest = loop_nest(op)
        if nest is None or not all(nest.parallel) or "library_call" in op.attributes or list_ops(op, "linalg.index"):
            return False
        order = list(range(len(nest.extents)))
        if not all(self._is_point(value) for value in op.results) or nest.loads:
            return False
        block = op.regions[0].blocks[0]
        inside: Known = {}
        for number, (argument, operand) in enumerate(zip(block.arguments, op.operands, strict=True)):
            loops = [index.plain_loop for index in nest.indices[number]]
            if loops != order and (loops or number >= nest.num_inputs):
                return False
            if is_used(argument):
                scalar = self._scalar(operand)
                if scalar is None:
                    return False
                inside[argument] = scalar
        *body, terminator = (inner.operation for inner in block.operations)
        if not all(inner.name.startswith(("arith.", "math.")) for inner in body):
            return False
        for inner in body:
            clone_into(inner, inside)
        for result, value in zip(op.results, terminator.operands, strict=True):
            self.scalars[result] = inside.get(value, value)
        return True

    def _extracts(self, op: ir.Operation) -> bool:
        tensor, *at = op.operands
        if not at and (scalar := self._scalar(tensor)) is not None:
            self.scalars[op.results[0]] = scalar
            return True
        return False

    def _takes(self, op: ir.Operation) -> bool:
        place = self._place(op, op.operands[0], list(op.operands)[1:], op.results[0])
        tensor = self.known.get(op.operands[0], op.operands[0])
        if place is None or self._is_inside(tensor):
            return False
        self.scalars[op.results[0]] = upstream("tensor").ExtractOp(tensor, place).result
        return True

    def _puts(self, op: ir.Operation) -> bool:
        source, dest, *dynamic = op.operands
        place, scalar = self._place(op, dest, dynamic, source), self._scalar(source)
        if place is None or scalar is None or dest not in self.known:
            return False
        self.known[op.results[0]] = upstream("tensor").InsertOp(scalar, self.known[dest], place).result
        return True

    def _place(
        self, op: ir.Operation, whole: ir.Value, dynamic: list[ir.Value], part: ir.Value
    ) -> list[ir.Value] | None:
        """Where the own element of ``part``, a slice at the counter, is in ``whole``."""
        offsets, sizes = list(op.attributes["static_offsets"]), list(op.attributes["static_sizes"])
        if len(dynamic) != 1 or self.scalars.get(dynamic[0]) != self.counter or DYNAMIC in sizes:
            return None
        along = offsets.index(DYNAMIC)
        others = [size for dimension, size in enumerate(sizes) if dimension != along]
        full = [size for dimension, size in enumerate(whole.type.shape) if dimension != along]
        if sizes[along] != 1 or others != full or any(step != 1 for step in op.attributes["static_strides"]):
            return None
        if tuple(others) != self.shape or prod(part.type.shape) != prod(self.shape) or not self._is_point(part):
            return None
        place = list(self.at)
        place.insert(along, self.counter)
        return place
