"""Build calls of library codelets that work on stacks."""

from collections.abc import Sequence

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import generic, zero


def call_codelet(
    name: str, inputs: Sequence[ir.Value], shapes: Sequence[Sequence[int]], elements: Sequence[ir.Type]
) -> list[ir.Value]:
    """The results of codelet ``name``, of those shapes and types of elements, at the current insertion point."""
    empty = upstream("tensor").EmptyOp
    outs = [empty(list(shape), element).result for shape, element in zip(shapes, elements, strict=True)]
    return list(codelet_into(name, inputs, outs).results)


def codelet_into(name: str, inputs: Sequence[ir.Value], outs: Sequence[ir.Value]) -> ir.Operation:
    """Codelet ``name``, which fills ``outs``, at the current insertion point.

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
    call = {"library_call": ir.StringAttr.get(name)}
    return generic(inputs, outs, maps, parallel, lambda _: [zero(out.type.element_type) for out in outs], call)
