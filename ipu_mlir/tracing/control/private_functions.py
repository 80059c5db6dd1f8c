"""Python functions of the user's as private functions of the module, which others call or refer to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from ipu_mlir.dialects.support.bindings import ADVANCE, ir, upstream
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.control.bodies import Body, spec_of_leaf
from ipu_mlir.tracing.graph import Trace

func = upstream("func")


@dataclass(frozen=True)
class PrivateFunction:
    """A private function of the module that is being traced.

    Attributes:
        name: of its own, no other symbol has it.
        specs: of its results.
        types: of its results.
        captured: values from around the Python function: its last arguments.
    """

    name: str
    specs: list[TensorSpec]
    types: list[ir.Type]
    captured: list[ir.Value]


def private_function(
    trace: Trace, wanted: str, specs: Sequence[TensorSpec], give: Callable[[list[Any]], Sequence[Any]]
) -> PrivateFunction:
    """A private function that ``give`` computes.

    Args:
        wanted: its name, if no other symbol has that.
        specs: of the tensors that ``give`` takes.
        give: from these tensors to the leaves of the results.
    """
    body = Body(trace, wanted, specs)
    with body.traced() as symbols:
        leaves = list(give(list(symbols)))
    results = [spec_of_leaf(leaf) for leaf in leaves]
    body.end(func.ReturnOp, leaves, results)
    captured = _captured_by(body)
    with trace.emit(wanted):
        name = new_name(trace.module, wanted)
        given, types = ([trace.tensor_type(each.shape, each.dtype) for each in many] for many in (specs, results))
        with ir.InsertionPoint(trace.module.body):
            made = func.FuncOp(name, ([*given, *(each.type for each in captured)], types), visibility="private")
        body.move_to(made.regions[0])
    return PrivateFunction(name, results, types, captured)


def _captured_by(body: Body) -> list[ir.Value]:
    """The values that ``body`` uses of what is around it: each becomes one more argument, constants are made anew."""
    inside = {body.block}
    uses: list[tuple[ir.Operation, int]] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        inside.update(block for region in op.regions for block in region.blocks)
        uses.extend((op, number) for number in range(len(op.operands)))
        return ADVANCE

    for op in body.block.operations:
        op.operation.walk(visit)
    found: dict[ir.Value, ir.Value] = {}
    for op, number in uses:
        value = op.operands[number]
        owner = value.owner
        if (owner if isinstance(owner, ir.Block) else owner.operation.block) in inside:
            continue
        if value not in found and not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
            with ir.InsertionPoint.at_block_begin(body.block):
                found[value] = owner.operation.clone().results[0]
        elif value not in found:
            found[value] = body.add_argument(value.type)
        op.operands[number] = found[value]
    return [value for value, inner in found.items() if isinstance(inner.owner, ir.Block)]


def new_name(module: ir.Module, wanted: str) -> str:
    """``wanted``, or with a number what no function of ``module`` is called."""
    symbols = [op.operation.attributes.get("sym_name", None) for op in module.body.operations]
    taken = {ir.StringAttr(each).value for each in symbols if each is not None}
    base = identifier(wanted) or "outlined"
    return next(name for number in count() if (name := f"{base}_{number}" if number else base) not in taken)
