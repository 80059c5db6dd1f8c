"""``ipu.exchange``: data moves between tiles."""

from typing import Any

from ipu_mlir.dialects.analysis.buffers import memory_mapping, root_of
from ipu_mlir.dialects.analysis.effects import Effects, operands
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ext, ir
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.verifiers import verifier


class ExchangeOp(Ipu.Operation, name="exchange"):
    """Give ``dest`` the elements of ``source``, on the tiles that ``dest``'s mapping names.

        "ipu.exchange"(%a, %b) : (memref<4xf32, #home>, memref<4xf32, #operand>) -> ()

    Both have one shape and element type and lie on tiles; they differ in mapping or in the part of the allocation that
    they show. The route is fixed at compile time. An element that ``dest`` holds on a tile where ``source`` holds it
    too is copied on that tile and costs no exchange.
    """

    source: ext.Operand[Any]
    dest: ext.Operand[Any]
    effects = Effects(operands(read=[0], written=[1]))

    @staticmethod
    @verifier
    def verify_invariants(op: Any) -> bool:
        source, dest = op.source, op.dest
        for name, value in (("source", source), ("dest", dest)):
            if not isinstance(value.type, ir.MemRefType):
                return fail(op, f"needs a memref as {name}, got {value.type}")
            if memory_mapping(value.type) is None:
                return fail(
                    op, f"has a {name} that lies on no tile: {value.type}; give it a #ipu.mapping as memory space"
                )
        if source.type.shape != dest.type.shape or source.type.element_type != dest.type.element_type:
            return fail(
                op,
                f"moves {'x'.join(map(str, source.type.shape))} elements of {source.type.element_type} but fills "
                f"{'x'.join(map(str, dest.type.shape))} of {dest.type.element_type}; "
                "both sides need one shape and type",
            )
        if root_of(source) == root_of(dest) and source.type == dest.type:
            return fail(op, "moves nothing: both sides are one buffer in one mapping; remove it")
        return True
