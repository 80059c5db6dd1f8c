"""``ipu-materialize-casts``: a change of mapping is a copy."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import copy_into
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class MaterializeCasts(Pass):
    """Write every change of mapping as a copy into a new tensor.

    Bufferization gives a cast the buffer of its source, so that the change of mapping would be lost without a word.

    Needs:  placed tensors (``ipu-place-tensors``).
    Leaves: ``linalg.copy`` into a ``tensor.empty`` of the new mapping for every ``tensor.cast`` between mappings; no
            ``canonicalize`` may run before bufferization, it would turn the copies back into casts.
    """

    name = "ipu-materialize-casts"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for cast in list_ops(module, "tensor.cast"):
                wanted = cast.results[0].type
                if wanted.encoding is None or cast.operands[0].type.encoding == wanted.encoding:
                    continue
                with ir.InsertionPoint(cast), cast.location:
                    fresh = (
                        upstream("tensor")
                        .EmptyOp(list(wanted.shape), wanted.element_type, encoding=wanted.encoding)
                        .result
                    )
                    copied = copy_into(cast.operands[0], fresh)
                replace_op(cast, [copied.results[0]])
