"""A pass of your own: report what every exchange moves.

    ipu-opt model.mlir --load examples/custom_pass.py --ipu-compile --report-exchanges -o /dev/null

or from Python, behind the passes that compile a program:

    ipu.compile("model.mlir", pipeline=["ipu-compile", ReportExchanges(limit_bytes=2**20)])
"""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.mapping.traffic import exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class ReportExchanges(Pass):
    """Print the bytes that every exchange moves, and refuse those that send too much to one tile.

    Needs:  supersteps (``ipu-lower``).
    Leaves: the program as it was.
    """

    name = "report-exchanges"

    limit_bytes: int = 638_976

    def run(self, module: ir.Operation) -> None:
        num_tiles = module_target(module).num_tiles
        with Refusals() as refuse:
            for op in list_ops(module, "ipu.exchange"):
                sides = [(memory_mapping(value.type), view_of(value.type)) for value in op.operands]
                traffic = exchange_traffic(*sides[0], *sides[1], num_tiles)
                received = traffic.received * element_bytes(op.operands[0].type.element_type)
                print(
                    f"exchange: {received.sum():,} bytes to {(received > 0).sum():,} tiles, at most {received.max():,}"
                )
                if received.max() > self.limit_bytes:
                    refuse(op, f"sends {received.max():,} bytes to one tile; the limit is {self.limit_bytes:,}")


def view_of(memref: ir.Type) -> View:
    """Which elements of its allocation ``memref`` shows."""
    strides, offset = strides_and_offset(memref)
    return View(offset, tuple(memref.shape), strides)
