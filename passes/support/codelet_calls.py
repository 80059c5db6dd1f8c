"""Build calls of library codelets that work on stacks."""

from collections.abc import Sequence

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import generic, zero


def call_codelet(
    name: str, inputs: Sequence[ir.Value], shapes: Sequence[Sequence[int]], elements: Sequence[ir.Type]
) -> list[ir.Value]:
    """The results of codelet ``name``, of those shapes and types of elements, at the current insertion point.

    Each loop is one dimension: those of the stack, which vertices share, then those of the codelet's signature.
    """
    signature = codelet_named(name).signature
    assert signature is not None, "a codelet on stacks"
    stack = inputs[0].type.rank - len(signature.inputs[0])
    count = stack + len(signature.loops)
    maps = [
        ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(loop) for loop in [*range(stack), *own]])
        for own in (
            [stack + signature.loops.index(each) for each in names] for names in (*signature.inputs, *signature.outputs)
        )
    ]
    parallel = [True] * stack + [loop[0] in signature.parallel for loop in signature.loops]
    empties = [
        upstream("tensor").EmptyOp(list(shape), element).result for shape, element in zip(shapes, elements, strict=True)
    ]
    call = {"library_call": ir.StringAttr.get(name)}
    op = generic(inputs, empties, maps, parallel, lambda _: [zero(element) for element in elements], call)
    return list(op.results)
