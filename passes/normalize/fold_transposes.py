"""``ipu-fold-transposes``: ops read transposed operands in place."""

from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite

_CONSUMERS = ("linalg.generic", "linalg.matmul", "linalg.batch_matmul", "linalg.contract", "linalg.elementwise")


def untransposed_index(results: list[Any], permutation: list[int]) -> list[Any]:
    """The index into a value, from the index into its transpose: dimension ``i`` there is ``permutation[i]`` here.

    >>> untransposed_index(["row", "column"], [1, 0])
    ['column', 'row']
    """
    index: list[Any] = [None] * len(results)
    for result, dimension in zip(results, permutation, strict=True):
        index[dimension] = result
    return index


def read_through_transpose(op: Any, _: Any) -> bool:
    """op(transpose(x)) becomes op(x) with the transpose in its indexing map."""
    operation = op.operation
    inputs = len(operation.operands) - len(operation.results)
    for number in range(inputs):
        transpose = defining_op(operation.operands[number], "linalg.transpose")
        if transpose is None:
            continue
        permutation = list(transpose.attributes["permutation"])
        if operation.name == "linalg.batch_matmul" and permutation[0] != 0:
            continue  # the batch dimension has to stay the first one
        maps = [attribute.value for attribute in linalg.get_indexing_maps(operation)]
        old = maps[number]
        maps[number] = ir.AffineMap.get(old.n_dims, 0, untransposed_index(list(old.results), permutation))
        operation.attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])
        operation.operands[number] = transpose.operands[0]
        return REWRITTEN
    return SKIP


class FoldTransposes(Pass):
    """Let ops read transposed operands through their indexing maps.

    Needs:  linalg on tensors.
    Leaves: no ``linalg.transpose`` whose result a generic, a contraction or an element-wise op reads.
    """

    name = "ipu-fold-transposes"

    def run(self, module: ir.Operation) -> None:
        rewrite(module, dict.fromkeys(_CONSUMERS, read_through_transpose))
