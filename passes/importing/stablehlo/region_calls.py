"""Custom calls named ``ipu.*`` that call functions of the module: rows of ``CALLS``."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import module_around
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.importing.stablehlo.program_call import BACKWARD, CONDITION, FORWARD, Call, ProgramCall, Setting
from ipu_mlir.passes.importing.stablehlo.scalar_regions import extract, index

func = upstream("func")
scf = upstream("scf")


def outlined_call(types: Sequence[ir.Type], name: str, operands: Sequence[ir.Value]) -> Sequence[ir.Value]:
    """The results of a call of the function ``name`` that stays one."""
    op = func.CallOp(list(types), name, list(operands)).operation
    for mark in (OUTLINED, "no_inline"):
        op.attributes[mark] = ir.UnitAttr.get()
    return list(op.results)


def _outlined(call: Call) -> Sequence[ir.Value]:
    return outlined_call(call.gives, call.functions[0], call.operands)


def _derivative(call: Call) -> Sequence[ir.Value]:
    """A call that stays one till gradients are made, of a function with the attribute ``ipu.derivative``."""
    name, forward, backward = call.functions
    function = ir.SymbolTable(module_around(ir.InsertionPoint.current.block.owner))[name]
    symbols = {"forward": ir.FlatSymbolRefAttr.get(forward), "backward": ir.FlatSymbolRefAttr.get(backward)}
    if "without" in call.attributes:
        symbols["without"] = call.attributes["without"]
    function.attributes["ipu.derivative"] = ir.DictAttr.get(symbols)
    op = func.CallOp(list(call.gives), name, list(call.operands)).operation
    op.attributes["no_inline"] = ir.UnitAttr.get()
    return list(op.results)


def _repeat(call: Call) -> Sequence[ir.Value]:
    count = ir.IntegerAttr(call.attributes["count"]).value
    loop = scf.ForOp(index(0), index(max(count, 0)), index(1), list(call.operands))
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(func.CallOp(list(call.gives), call.functions[0], list(loop.inner_iter_args)).results)
    return list(loop.results)


def _while_loop(call: Call) -> Sequence[ir.Value]:
    condition, body = call.functions
    loop = scf.WhileOp(list(call.gives), list(call.operands))
    first, second = (region.blocks.append(*call.takes) for region in loop.regions)
    with ir.InsertionPoint(first):
        truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        found = func.CallOp([truth], condition, list(first.arguments)).results[0]
        scf.ConditionOp(extract(found), list(first.arguments))
    with ir.InsertionPoint(second):
        scf.YieldOp(func.CallOp(list(call.gives), body, list(second.arguments)).results)
    return list(loop.results)


def _is_outlined(call: Call) -> Sequence[ir.Value]:
    truth = ir.DenseElementsAttr.get_splat(call.gives[0], ir.BoolAttr.get(True))
    return [upstream("arith").ConstantOp(call.gives[0], truth).result]


def _run_pipeline(call: Call) -> Sequence[ir.Value]:
    name = ir.FlatSymbolRefAttr(call.attributes["pipeline"]).value
    module = module_around(ir.InsertionPoint.current.block.owner)
    if name not in ir.SymbolTable(module):
        with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
            func.FuncOp(name, (list(call.takes), list(call.gives)), visibility="private")
    return func.CallOp(list(call.gives), name, list(call.operands)).results


REGION_CALLS: dict[str, ProgramCall] = {
    "derivative": ProgramCall(
        "calls a function whose gradient two more say: one gives its results and what the other needs; that takes this "
        "and the cotangents of the results that are floats, and gives those of the operands that are",
        _derivative,
        operands=None,
        results=None,
        settings={"without": Setting("a list of integers", "the operands by which it has no derivative")},
        functions=["function", FORWARD, BACKWARD],
    ),
    "is_outlined": ProgramCall(
        "is true; what a branch on it does is one function for all branches that do the same",
        _is_outlined,
        results=1,
        settings={"name": Setting("text", "what the function is called")},
    ),
    "outlined": ProgramCall(
        "calls a function whose code stands in the program once for all such calls",
        _outlined,
        operands=None,
        results=None,
        functions=["function"],
    ),
    "repeat": ProgramCall(
        "calls a function several times, with the operands and then with what it gave before",
        _repeat,
        operands=None,
        results=None,
        settings={"count": Setting("an integer", "how often; below 1, the operands are the results", is_required=True)},
        keeps_types=True,
        functions=["body"],
    ),
    "run_pipeline": ProgramCall(
        "calls the function of that name, which is declared for it, to run an `ipu.pipeline`",
        _run_pipeline,
        operands=None,
        results=None,
        settings={"pipeline": Setting("a name", "the name of the function", is_required=True)},
        is_ordered=True,
    ),
    "while_loop": ProgramCall(
        "calls a function as `ipu.repeat` does, while a condition on what it takes holds",
        _while_loop,
        operands=None,
        results=None,
        keeps_types=True,
        functions=[CONDITION, "body"],
    ),
}
