"""``ipu-expand-batch-norms``: normalisations over a batch in StableHLO as the sums and products that they are."""

from collections.abc import Callable, Sequence
from math import prod

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import full
from ipu_mlir.passes.importing.stablehlo.scalar_regions import Values
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ExpandBatchNorms(Pass):
    """Write batch_norm_training, batch_norm_inference and batch_norm_grad with means and variances.

    The variance is the mean of squares of what is left without the mean: that is exact where the mean is large.

    Needs:  StableHLO of static shapes.
    Leaves: no such op.
    """

    name = "ipu-expand-batch-norms"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for name, expand in _OPS.items():
                for op in list_ops(module, f"stablehlo.batch_norm_{name}"):
                    with ir.InsertionPoint(op), op.location:
                        replace_op(op, expand(_Features(op), *op.operands))


class _Features:
    """Arithmetic on a batch and on what each of its features has."""

    def __init__(self, op: ir.Operation) -> None:
        self._batch = op.operands[0].type
        self._feature = ir.IntegerAttr(op.attributes["feature_index"]).value
        self._each = op.operands[1].type
        self._others = [dim for dim in range(self._batch.rank) if dim != self._feature]
        self.epsilon = ir.FloatAttr(op.attributes["epsilon"]).value

    def apply(self, name: str, *operands: ir.Value) -> ir.Value:
        """An op on values of one kind, or on the batch and what features have."""
        is_mixed = any(value.type == self._batch for value in operands)
        given = [self._spread(value) if is_mixed and value.type != self._batch else value for value in operands]
        return ir.Operation.create(f"stablehlo.{name}", [given[0].type], given).results[0]

    def _spread(self, value: ir.Value) -> ir.Value:
        where = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([self._feature])}
        return ir.Operation.create("stablehlo.broadcast_in_dim", [self._batch], [value], where).results[0]

    def number(self, value: float) -> ir.Value:
        """``value`` for each feature."""
        return full(self._each, value)

    def sum(self, batch: ir.Value) -> ir.Value:
        """The sum of each feature."""
        scalar = ir.RankedTensorType.get([], self._batch.element_type)
        along = {"dimensions": ir.DenseI64ArrayAttr.get(self._others)}
        op = ir.Operation.create("stablehlo.reduce", [self._each], [batch, full(scalar, 0.0)], along, regions=1)
        block = op.regions[0].blocks.append(scalar, scalar)
        with ir.InsertionPoint(block):
            total = ir.Operation.create("stablehlo.add", [scalar], list(block.arguments)).results
            ir.Operation.create("stablehlo.return", [], total)
        return op.results[0]

    def mean(self, batch: ir.Value) -> ir.Value:
        """The mean of each feature."""
        return self.scaled(self.sum(batch))

    def scaled(self, sums: ir.Value) -> ir.Value:
        """Sums of features over how many elements they are of."""
        return self.apply("divide", sums, self.number(prod(self._batch.shape[dim] for dim in self._others)))

    def inverse(self, variance: ir.Value) -> ir.Value:
        """One over the deviation of each feature."""
        return self.apply("rsqrt", self.apply("add", variance, self.number(self.epsilon)))


def _training(on: _Features, x: ir.Value, scale: ir.Value, offset: ir.Value) -> Values:
    mean = on.mean(x)
    apart = on.apply("subtract", x, mean)
    variance = on.mean(on.apply("multiply", apart, apart))
    return [*_inference(on, x, scale, offset, mean, variance), mean, variance]


def _inference(
    on: _Features, x: ir.Value, scale: ir.Value, offset: ir.Value, mean: ir.Value, variance: ir.Value
) -> Values:
    factor = on.apply("multiply", on.inverse(variance), scale)
    return [on.apply("add", on.apply("multiply", on.apply("subtract", x, mean), factor), offset)]


def _grad(
    on: _Features, x: ir.Value, scale: ir.Value, mean: ir.Value, variance: ir.Value, gradient: ir.Value
) -> Values:
    inverse = on.inverse(variance)
    normal = on.apply("multiply", on.apply("subtract", x, mean), inverse)
    of_scale, of_offset = on.sum(on.apply("multiply", gradient, normal)), on.sum(gradient)
    by_mean = on.apply("subtract", gradient, on.scaled(of_offset))
    by_variance = on.apply("multiply", normal, on.scaled(of_scale))
    of_x = on.apply("multiply", on.apply("subtract", by_mean, by_variance), on.apply("multiply", scale, inverse))
    return [of_x, of_scale, of_offset]


_OPS: dict[str, Callable[..., Sequence[ir.Value]]] = {"training": _training, "inference": _inference, "grad": _grad}
