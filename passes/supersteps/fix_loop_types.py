"""``ipu-fix-loop-types``: bufferization need not search many loops for the type of a buffer."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.control_flow import is_loop
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_outside_bodies

_MOST_AROUND = 3


class FixLoopTypes(Pass):
    """Let loops inside many others begin with the result of a call, whose type is known.

    ``one-shot-bufferize`` asks for the type of what a loop carries in the loop around it, and there twice, so that its
    time doubles with each loop around. ``inline`` removes the calls afterwards; in place stays in place.

    Needs:  ``ipu-materialize-casts``.
    Leaves: tensors that loops inside more than three others begin with only as results of private functions, which
            give back their arguments.
    """

    name = "ipu-fix-loop-types"

    def run(self, module: ir.Operation) -> None:
        functions: dict[ir.Type, str] = {}
        with module.context, module.location:
            for loop in list(_deep_loops(module)):  # all before any has other operands, and by them another hash
                for number, value in enumerate(loop.operands):
                    if isinstance(value.type, ir.RankedTensorType):
                        loop.operands[number] = _same(value, loop, functions, module.regions[0].blocks[0])


def _deep_loops(module: ir.Operation) -> Iterator[ir.Operation]:
    """The loops with more than ``_MOST_AROUND`` others around them."""
    around: dict[ir.Operation, int] = {}
    for op in list_outside_bodies(module)[1:]:
        parent = op.parent.operation
        around[op] = around.get(parent, 0) + is_loop(parent)
        if is_loop(op) and around[op] > _MOST_AROUND:
            yield op


def _same(value: ir.Value, loop: ir.Operation, functions: dict[ir.Type, str], top: ir.Block) -> ir.Value:
    """The result of a call before ``loop`` that gives back ``value``; ``functions`` gets a function for its type."""
    func = upstream("func")
    if value.type not in functions:
        functions[value.type] = f"ipu.same.{len(functions)}"
        with ir.InsertionPoint.at_block_begin(top):
            function = func.FuncOp(functions[value.type], ([value.type], [value.type]), visibility="private")
        with ir.InsertionPoint(function.add_entry_block()) as body:
            func.ReturnOp(list(body.block.arguments))
    with ir.InsertionPoint(loop), loop.location:
        return func.CallOp([value.type], functions[value.type], [value]).results[0]
