"""Ops of replicas that know of each other: which of them one is, and what they compute together.

All replicas come to a collective together. On tensors each has an op of its own, which has no effect but its result; on
tiles ``ipu.collective`` is all of them.
"""

from typing import Any

from ipu_mlir.dialects.analysis.buffers import BUFFER, is_buffer
from ipu_mlir.dialects.analysis.collectives import KINDS, REDUCTIONS, SIZED, Collective, collective_of
from ipu_mlir.dialects.analysis.effects import NO_EFFECTS, Effects, operands
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

_NUMBERS = {"group": 1, "root": 0, "split_dimension": 0, "concat_dimension": 0}
"""Attributes that may be there, each with the smallest number that it can be."""


def _broken(op: ir.Operation) -> str | None:
    """The error of a collective by itself, as the end of a sentence."""
    attributes = op.attributes
    for name, least in _NUMBERS.items():
        if name in attributes:
            number = attributes[name]
            if not isinstance(number, ir.IntegerAttr) or number.value < least:
                return f"has {name} = {number}; it is a number from {least} on"
    if "op" in attributes and ir.StringAttr(attributes["op"]).value not in REDUCTIONS:
        return f"has op = {attributes['op']}; it is one of {', '.join(REDUCTIONS)}"
    source, dest = (value.type for value in (*op.operands, *op.results))
    if not isinstance(source, ir.ShapedType) or not source.has_rank or not source.has_static_shape:
        return f"takes {source}; it takes a tensor of static shape"
    if not isinstance(dest, ir.ShapedType) or not dest.has_rank or source.element_type != dest.element_type:
        return f"gives {dest} for {source}; both have one element type"
    collective = collective_of(op)
    assert collective is not None, "a verifier of collectives"
    return _broken_elements(collective, source) or _broken_shape(collective, source, dest)


def _broken_elements(collective: Collective, source: Any) -> str | None:
    if collective.kind not in ("all_reduce", "reduce_scatter"):
        return None
    element, reduction = source.element_type, collective.reduction
    is_bool = isinstance(element, ir.IntegerType) and element.width == 1
    if is_bool != (reduction in ("and", "or")):
        return f"combines elements of {element} with '{reduction}'; 'and' and 'or' combine i1, the others numbers"
    if reduction == "mean" and not isinstance(element, ir.FloatType):
        return f"has the mean of elements of {element}; only floats have one, use 'add' and divide"
    return None


def _broken_shape(collective: Collective, source: Any, dest: Any) -> str | None:
    if collective.kind == "reduce_scatter" and len(source.shape) != 1:
        return f"takes {source}; it takes a tensor of rank 1, so flatten it first"
    if collective.group is None and collective.kind in SIZED:
        return None  # ipu-mark-replicas knows how many there are
    return collective.broken_shape(source, dest, collective.group or 1)


class _Collective:
    """The common parts of collectives on tensors."""

    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        broken = _broken(op.operation)
        return broken is None or fail(op, broken)


class ReplicaIndexOp(Ipu.Operation, name="replica_index", traits=[ext.Pure]):
    """The number of the replica that the program runs on, from 0.

    %r = "ipu.replica_index"() : () -> tensor<i32>
    """

    index: ext.Result[Any]
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        kind = op.operation.results[0].type
        is_number = isinstance(kind, ir.RankedTensorType) and not len(kind.shape) and str(kind.element_type) == "i32"
        return is_number or fail(op, f"gives {kind}; it gives a tensor<i32>")


class AllReduceOp(Ipu.Operation, name="all_reduce", traits=[ext.Pure]):
    """The values of all replicas of a group, combined element by element; every replica of the group gets that.

        %y = "ipu.all_reduce"(%x) {op = "mean", group = 4} : (tensor<8xf32>) -> tensor<8xf32>

    ``op`` is add, mean, min, max, mul, and, or, or square_add, the sum of squares. ``group`` is how many consecutive
    replicas take part; all where it is not given. A mean of f16 does not overflow on the way.
    """

    source: ext.Operand[Any]
    op: ir.StringAttr
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class AllGatherOp(Ipu.Operation, name="all_gather", traits=[ext.Pure]):
    """The values of all replicas of a group, in their order along one more first dimension.

    %y = "ipu.all_gather"(%x) {group = 4} : (tensor<8xf32>) -> tensor<4x8xf32>
    """

    source: ext.Operand[Any]
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class ReduceScatterOp(Ipu.Operation, name="reduce_scatter", traits=[ext.Pure]):
    """As ``ipu.all_reduce``, but each replica of a group gets only its block of the result.

        %y = "ipu.reduce_scatter"(%x) {op = "add", group = 4} : (tensor<10xf32>) -> tensor<3xf32>

    Takes rank 1. Of n elements on k replicas a block has ceil(n / k); those beyond the n are 0.
    """

    source: ext.Operand[Any]
    op: ir.StringAttr
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class AllToAllOp(Ipu.Operation, name="all_to_all", traits=[ext.Pure]):
    """Each replica of a group gets its block of the value of every one, and puts them together in their order.

        %y = "ipu.all_to_all"(%x) {split_dimension = 0, concat_dimension = 1, group = 4}
             : (tensor<8x2xf32>) -> tensor<2x8xf32>

    ``split_dimension`` is cut into as many blocks as there are replicas in the group.
    """

    source: ext.Operand[Any]
    split_dimension: ir.IntegerAttr
    concat_dimension: ir.IntegerAttr
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class BroadcastOp(Ipu.Operation, name="broadcast", traits=[ext.Pure]):
    """The value of replica ``root`` of a group, on all replicas of it; 0 where it is not given.

    %y = "ipu.broadcast"(%x) {root = 0} : (tensor<8xf32>) -> tensor<8xf32>
    """

    source: ext.Operand[Any]
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class AssumeEqualOp(Ipu.Operation, name="assume_equal", traits=[ext.Pure]):
    """The same value, of which the writer of the program says that it is one on all replicas.

        %c = "ipu.assume_equal"(%x) : (tensor<i1>) -> tensor<i1>

    Control flow may depend on it. A run in which it is not so ends with an error.
    """

    source: ext.Operand[Any]
    value: ext.Result[Any]
    effects = _Collective.effects
    verify_invariants = _Collective.verify_invariants


class NumberReplicaOp(Ipu.Operation, name="number_replica"):
    """Write the number of the replica to tiles: ``ipu.replica_index`` in supersteps.

    "ipu.number_replica"(%index) : (memref<i32, #home>) -> ()
    """

    dest: ext.Operand[Any]
    effects = Effects(operands(written=[0]))

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        kind = op.dest.type
        if not isinstance(kind, ir.MemRefType) or len(kind.shape) or str(kind.element_type) != "i32":
            return fail(op, f"fills {kind}; it writes a memref of rank 0 of i32")
        return True


class CollectiveOp(Ipu.Operation, name="collective"):
    """A collective in supersteps: ``dest`` gets what the op on tensors that ``kind`` names gives for ``source``.

    "ipu.collective"(%x, %y) {kind = "all_reduce", op = "add"} : (memref<8xf32, #home>, memref<8xf32, #home>) -> ()
    """

    source: ext.Operand[Any]
    dest: ext.Operand[Any]
    kind: ir.StringAttr
    effects = Effects(operands(read=[0], written=[1]), ordered=True)

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        if op.kind.value not in KINDS:
            return fail(op, f"is of kind {op.kind}; there are {', '.join(KINDS)}")
        for name, value in (("source", op.source), ("dest", op.dest)):
            if not is_buffer(value.type):
                return fail(op, f"has {value.type} as {name}; it takes {BUFFER}")
        broken = _broken(op.operation)
        return broken is None or fail(op, broken)
