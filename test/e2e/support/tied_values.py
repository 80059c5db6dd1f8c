"""Buffers that have one type because control flow hands one on as the other: a loop's start, argument and result."""

from collections.abc import Iterator

from ipu_mlir.dialects.support.bindings import ir

VIEWS = ("memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.cast")
HANDED_ON = (*VIEWS, "scf.for", "scf.while", "scf.yield", "scf.condition", "func.call", "func.return")
"""Ops that give a buffer another name, and touch nothing in it."""


def tied(value: ir.Value) -> list[ir.Value]:
    """``value`` with its views and all buffers that it is yielded as or from, through loops, branches and calls."""
    found, waiting = {value: None}, [value]
    while waiting:
        for other in (*_origins(waiting[-1]), *_destinations(waiting.pop())):
            if other not in found and isinstance(other.type, ir.MemRefType):
                found[other] = None
                waiting.append(other)
    return list(found)


def _origins(value: ir.Value) -> Iterator[ir.Value]:
    """What ``value`` is a name for, by the op or the block that gives it."""
    if isinstance(value.owner, ir.Block):
        yield from _of_argument(value.owner, ir.BlockArgument(value).arg_number)
        return
    op, number = value.owner, ir.OpResult(value).result_number
    if op.name in VIEWS:
        yield op.operands[0]
    elif op.name == "scf.while":
        yield _last(op.regions[0]).operands[1 + number]
        yield op.regions[1].blocks[0].arguments[number]
    elif op.name in ("scf.for", "scf.if", "scf.index_switch"):
        for region in op.regions:
            yield _last(region).operands[number]
        if op.name == "scf.for":
            yield op.operands[3 + number]
            yield op.regions[0].blocks[0].arguments[1 + number]
    elif op.name == "func.call":
        yield _last(_callee(op).regions[0]).operands[number]


def _of_argument(block: ir.Block, number: int) -> Iterator[ir.Value]:
    op = block.owner.operation
    if op.name == "scf.for" and number > 0:
        yield op.results[number - 1]
    elif op.name == "scf.while" and block == op.regions[1].blocks[0]:
        yield op.results[number]
    elif op.name == "scf.while":
        yield op.operands[number]
        yield _last(op.regions[1]).operands[number]
    elif op.name == "func.func":
        for call in _calls(op):
            yield call.operands[number]


def _destinations(value: ir.Value) -> Iterator[ir.Value]:
    """Other names that the users of ``value`` give it."""
    for use in value.uses:
        op, number = use.owner.operation, use.operand_number
        parent = op.parent.operation
        if op.name in VIEWS:
            yield op.results[0]
        elif op.name == "scf.for":
            yield op.results[number - 3]
        elif op.name == "scf.while":
            yield op.regions[0].blocks[0].arguments[number]
        elif op.name == "scf.condition":
            yield parent.results[number - 1]
        elif op.name == "scf.yield" and parent.name == "scf.while":
            yield parent.regions[0].blocks[0].arguments[number]
        elif op.name == "scf.yield":
            yield parent.results[number]
        elif op.name == "func.call":
            yield _callee(op).regions[0].blocks[0].arguments[number]
        elif op.name == "func.return":
            for call in _calls(parent):
                yield call.results[number]


def _last(region: ir.Region) -> ir.Operation:
    return list(region.blocks[0].operations)[-1].operation


def module_of(op: ir.Operation) -> ir.Operation:
    """The module, or whatever op is the outermost, around ``op``."""
    while op.parent is not None:
        op = op.parent.operation
    return op


def _callee(call: ir.Operation) -> ir.Operation:
    name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    return ir.SymbolTable(module_of(call))[name].operation


def _calls(function: ir.Operation) -> list[ir.Operation]:
    name, found = ir.StringAttr(function.attributes["sym_name"]).value, []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value == name:
            found.append(op)
        return ir.WalkResult.ADVANCE

    module_of(function).walk(visit)
    return found


def update_signatures(module: ir.Operation) -> None:
    """Let functions and constants say what their values say."""
    symbols = ir.SymbolTable(module)
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name != "func.func" or not len(op.regions[0].blocks):
            continue
        block = op.regions[0].blocks[0]
        results = [operand.type for operand in _last(op.regions[0]).operands]
        arguments = [argument.type for argument in block.arguments]
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, results))
        for inner in block.operations:
            if inner.operation.name == "memref.get_global":
                name = ir.FlatSymbolRefAttr(inner.operation.attributes["name"]).value
                symbols[name].operation.attributes["type"] = ir.TypeAttr.get(inner.operation.results[0].type)
