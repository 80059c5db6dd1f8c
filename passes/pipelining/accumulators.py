"""The sums and means of what all micro-batches of a pipeline give."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.pipelines import Reduction
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.ipu import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.autodiff.backward import elementwise
from ipu_mlir.passes.pipelining.rows import filled, zeros

arith = upstream("arith")


def added(so_far: ir.Value, value: ir.Value, reduction: Reduction, micro_batch: ir.Value, device: int) -> ir.Value:
    """What ``so_far`` of the micro-batches before is with ``value`` of this one, in the elements of ``so_far``.

    The mean is a sum of values that have their share of it already.
    """
    element = so_far.type.element_type
    shares: list[ir.Value] = []
    if reduction == "running_mean":
        number = arith.sitofp(element, arith.index_cast(ir.IntegerType.get_signless(32), micro_batch))
        one = arith.ConstantOp(element, 1.0).result
        share = arith.divf(one, arith.addf(number, one))
        shares = [filled(so_far.type, arith.mulf(number, share)), filled(so_far.type, share)]

    def sum_of(values: list[ir.Value]) -> ir.Value:
        before, now, *weights = values
        now = _cast(now, element)
        if weights:
            before, now = arith.mulf(before, weights[0]), arith.mulf(now, weights[1])
        return arith.addf(before, now)

    found = elementwise([so_far, value, *shares], so_far.type, sum_of)
    found.owner.operation.attributes[SHARD] = shard_attribute(device)
    return found


def _cast(value: ir.Value, element: ir.Type) -> ir.Value:
    """A float as one of another type."""
    if value.type == element:
        return value
    if value.type.width > element.width:
        return arith.truncf(element, value)
    if value.type.width < element.width:
        return arith.extf(element, value)
    return arith.truncf(element, arith.extf(ir.F32Type.get(), value))


class Accumulators:
    """Where the gradients of a pipeline are added up: in tensors that its loop carries, or in remote memory.

    Attributes:
        begin: the values that the loop carries first; none for those in remote memory.
    """

    def __init__(self, kinds: Sequence[ir.Type], names: Sequence[str] | None, module: ir.Operation) -> None:
        """For gradients of types ``kinds``; with ``names`` of remote variables."""
        self._names, self._kinds = names, kinds
        if names is None:
            self.begin = [zeros(kind) for kind in kinds]
            return
        self.begin = []
        for name, kind in zip(names, kinds, strict=True):
            offloaded_variable(name, kind, module)
            AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=zeros(kind))

    def add(
        self,
        carried: list[ir.Value],
        first: int,
        values: Sequence[ir.Value],
        reduction: Reduction,
        micro_batch: ir.Value,
        device: int,
    ) -> list[ir.Value]:
        """What the loop carries when ``values`` are added to the gradients from number ``first`` on."""
        carried = list(carried)
        for number, value in enumerate(values, first):
            if self._names is None:
                carried[number] = added(carried[number], value, reduction, micro_batch, device)
            else:
                before = ReadOp(variable=ir.FlatSymbolRefAttr.get(self._names[number]), value=self._kinds[number]).value
                now = added(before, value, reduction, micro_batch, device)
                AssignOp(variable=ir.FlatSymbolRefAttr.get(self._names[number]), value=now)
        return carried

    def end(self, carried: list[ir.Value]) -> list[ir.Value]:
        """The gradients behind the loop."""
        if self._names is None:
            return carried
        pairs = zip(self._names, self._kinds, strict=True)
        return [ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=kind).value for name, kind in pairs]


def offloaded_variable(name: str, kind: ir.Type, module: ir.Operation) -> None:
    """Declare a variable in remote memory that begins with zeros."""
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        made = VariableOp(sym_name=ir.StringAttr.get(name), type=ir.TypeAttr.get(kind)).operation
    made.attributes["init"] = ir.DenseElementsAttr.get_splat(kind, scalar_attribute(kind.element_type, 0))
    made.attributes["offload"] = ir.UnitAttr.get()
