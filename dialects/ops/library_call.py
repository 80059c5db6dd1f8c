"""``ipu.library_call``: a call of a library codelet that passes carry along as it is."""

from typing import Any

from ipu_mlir.dialects.analysis.effects import NO_EFFECTS
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.counted import listed
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier

MOST_OPERANDS, MOST_RESULTS = 12, 4
"""Each is a field of its own: the bindings let values of one field have one type only."""


class LibraryCallOp(Ipu.Operation, name="library_call", traits=[ext.Pure]):
    """A ``linalg.generic`` that calls a library codelet, without a body that could be taken for its meaning.

        %l = "ipu.library_call"(%a, %init) {codelet = "sort", inputs = 1 : i64, updated = [false],
            indexing_maps = [...], iterator_types = [...], operandSegmentSizes = array<i32: 1, 1, 0, ...>,
            resultSegmentSizes = array<i32: 1, 0, ...>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>

    Operands are ``inputs`` inputs, and the tensors that the results start from, one for each; ``updated`` says which of
    those the codelet reads. The segments say how many operands and results there are: 1 for each, then 0.
    """

    codelet: ir.StringAttr
    inputs: ir.IntegerAttr
    updated: ir.ArrayAttr
    operand0: ext.Operand[Any]
    result0: ext.Result[Any]
    operand1: ext.Operand[Any] | None = None
    operand2: ext.Operand[Any] | None = None
    operand3: ext.Operand[Any] | None = None
    operand4: ext.Operand[Any] | None = None
    operand5: ext.Operand[Any] | None = None
    operand6: ext.Operand[Any] | None = None
    operand7: ext.Operand[Any] | None = None
    operand8: ext.Operand[Any] | None = None
    operand9: ext.Operand[Any] | None = None
    operand10: ext.Operand[Any] | None = None
    operand11: ext.Operand[Any] | None = None
    result1: ext.Result[Any] | None = None
    result2: ext.Result[Any] | None = None
    result3: ext.Result[Any] | None = None
    effects = NO_EFFECTS

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        starts = [value.type for value in list(op.operation.operands)[op.inputs.value :]]
        results = [result.type for result in op.operation.results]
        if starts != results:
            return fail(
                op, f"gives {listed(results)} but starts from {listed(starts)}; one of its type for each result"
            )
        if len(op.updated) != len(results):
            return fail(op, f"says of {len(op.updated)} results whether they are updated; it has {len(results)}")
        return True


def segments(count: int, most: int) -> ir.DenseI32ArrayAttr:
    """The attribute that says that the first ``count`` of ``most`` fields are there."""
    return ir.DenseI32ArrayAttr.get([int(number < count) for number in range(most)])
