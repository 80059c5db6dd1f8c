"""Sizes inside of a program of StableHLO that follow from those of its arguments, by the passes of StableHLO."""

import re
from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.passes.importing.stablehlo.simplify_stablehlo import copy_called, math_name
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_REFINE = (
    "func.func(stablehlo-legalize-composite-to-call),inline,symbol-dce,"
    "stablehlo-refine-shapes,func.func(stablehlo-canonicalize-dynamism),canonicalize,cse"
)
_WRAPPER = "stablehlo.shape_refinement_operand_wrapper"
_BEHIND = re.compile(r"\.? ?Using the following polymorphic shapes specifications")


def is_stablehlo(module: ir.Operation) -> bool:
    """True if ``module`` has an op of StableHLO, or of what comes before and beside it, or takes what only StableHLO
    has: unsigned and complex numbers."""
    return module.context.is_dialect_loaded("stablehlo") and any(
        op.name.partition(".")[0] in ("stablehlo", "chlo", "mhlo") or _takes_its_types(op) for op in list_ops(module)
    )


def _takes_its_types(op: ir.Operation) -> bool:
    if op.name != "func.func":
        return False
    elements = [getattr(each, "element_type", each) for each in op.attributes["function_type"].value.inputs]
    return any(
        isinstance(each, ir.ComplexType) or (isinstance(each, ir.IntegerType) and each.is_unsigned) for each in elements
    )


def as_general(argument: ir.Value, general: ir.Type) -> ir.Value:
    """``argument`` as a tensor of type ``general``, which says less; the passes of StableHLO see through that."""
    kind = ir.RankedTensorType.get([argument.type.rank], ir.IntegerType.get_signless(64))
    sizes = ir.DenseElementsAttr.get(
        [ir.IntegerAttr.get(kind.element_type, size) for size in argument.type.shape], kind
    )
    shape = ir.Operation.create("stablehlo.constant", [kind], attributes={"value": sizes}).result
    attributes = {
        "call_target_name": ir.StringAttr.get(_WRAPPER),
        "indices_of_shape_operands": ir.Attribute.parse("dense<1> : tensor<1xi64>"),
    }
    return ir.Operation.create("stablehlo.custom_call", [general], [argument, shape], attributes).result


def refine_shapes(module: ir.Operation, function: ir.Operation) -> None:
    """Give the tensors in ``function`` the sizes that follow from its arguments; other functions serve it, or go."""
    for op in list_ops(module, "stablehlo.composite"):
        if math_name(op) is not None:  # ops have results of any size, composites those of their functions
            with ir.InsertionPoint(op), op.location:
                whole = ir.StringAttr(op.attributes["name"]).value
                replace_op(op, list(ir.Operation.create(whole, [op.results[0].type], list(op.operands)).results))
    name = function.attributes["sym_name"]
    for other in module.regions[0].blocks[0].operations:
        if other.operation.name == "func.func" and other.operation != function:
            other.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
    if "main" not in ir.SymbolTable(module):  # which one is refined goes by its name
        function.attributes["sym_name"] = ir.StringAttr.get("main")
    manager = passmanager.PassManager.parse(f"builtin.module({_REFINE})", context=module.context)
    manager.run(module)
    while sum(map(_write_as_op, list_ops(module, "stablehlo.custom_call"))):
        manager.run(module)
    function.attributes["sym_name"] = name


def _write_as_op(op: ir.Operation) -> bool:
    """Put the op in place of a call that JAX writes where the op asks for attributes; True if they are known by now."""
    known = _EXTENSIONS.get(ir.StringAttr(op.attributes["call_target_name"]).value)
    if known is None:
        return False
    count, make = known
    count = count or 2 * len(op.results)
    numbers = [_numbers(value) for value in list(op.operands)[count:]]
    tensors = list(op.operands)[:count]
    if None in numbers or any(size < 0 for value in tensors for size in value.type.shape):
        return False
    with ir.InsertionPoint(op), op.location:
        made = make(op, tensors, numbers)
        general = zip(made.results, op.results, strict=True)
        replace_op(op, [as_general(new, old.type) for new, old in general])
    return True


def _reduce_window(op: ir.Operation, tensors: list[ir.Value], numbers: list[list[int]]) -> ir.Operation:
    windows, strides, dilations, window_dilations, flat = numbers
    pads = list(zip(flat[::2], flat[1::2], strict=True))
    columns = zip(tensors[0].type.shape, windows, strides, dilations, window_dilations, pads, strict=True)
    shape = [
        max(0, ((size - 1) * dilation + 1 if size else 0) + sum(pad) - ((window - 1) * apart + 1) + stride) // stride
        for size, window, stride, dilation, apart, pad in columns
    ]
    pair = ir.RankedTensorType.get([len(pads), 2], ir.IntegerType.get_signless(64))
    attributes = {
        "window_dimensions": ir.DenseI64ArrayAttr.get(windows),
        "window_strides": ir.DenseI64ArrayAttr.get(strides),
        "base_dilations": ir.DenseI64ArrayAttr.get(dilations),
        "window_dilations": ir.DenseI64ArrayAttr.get(window_dilations),
        "padding": ir.DenseElementsAttr.get([ir.IntegerAttr.get(pair.element_type, each) for each in flat], pair),
    }
    types = [ir.RankedTensorType.get(shape, result.type.element_type) for result in op.results]
    made = ir.Operation.create("stablehlo.reduce_window", types, tensors, attributes, regions=1)
    copy_called(op, made.regions[0])
    return made


def _top_k(op: ir.Operation, tensors: list[ir.Value], numbers: list[list[int]]) -> ir.Operation:
    ((k,),) = numbers
    shape = [*tensors[0].type.shape[:-1], k]
    types = [ir.RankedTensorType.get(shape, result.type.element_type) for result in op.results]
    attributes = {"k": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), k)}
    return ir.Operation.create("chlo.top_k", types, tensors, attributes)


def _random_bits(op: ir.Operation, tensors: list[ir.Value], numbers: list[list[int]]) -> ir.Operation:
    (shape,) = numbers
    types = [tensors[0].type, ir.RankedTensorType.get(shape, op.results[1].type.element_type)]
    attributes = {"rng_algorithm": op.attributes["rng_algorithm"]}
    return ir.Operation.create("stablehlo.rng_bit_generator", types, tensors, attributes)


_EXTENSIONS = {
    "stablehlo.dynamic_reduce_window": (None, _reduce_window),
    "stablehlo.dynamic_rng_bit_generator": (1, _random_bits),
    "stablehlo.dynamic_top_k": (1, _top_k),
}
"""By its name, how many operands of a call are tensors (None: two for each result), and the op in its place."""


def failed_assertions(module: ir.Operation, name: str) -> list[tuple[ir.Location, str]]:
    """Where assertions about sizes stand that do not hold in function ``name``, and what they say, as JAX writes it.

    They are looked at alone: with such sizes the rest of the program may be none.
    """
    if not _assertions(module):
        return []
    alone = module.clone()
    function = ir.SymbolTable(alone)[name].operation
    end = terminator(function.regions[0].blocks[0])
    with ir.InsertionPoint(end):
        upstream("func").ReturnOp([])
    end.erase()
    kind = ir.FunctionType.get(function.attributes["function_type"].value.inputs, [])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]
    for call in list_ops(function, "func.call"):
        if not any(list(result.uses) for result in call.results):
            call.erase()
    refine_shapes(alone, function)
    failed = []
    for op in _assertions(alone):
        holds, *numbers = [_numbers(value) for value in op.operands] or [None]
        if holds == [0]:
            text, *_ = _BEHIND.split(_said(op))
            failed.append((op.location, _filled(text, numbers)))
    return failed


def _said(assertion: ir.Operation) -> str:
    if "error_message" not in assertion.attributes:
        return "the assertion does not hold"
    return ir.StringAttr(assertion.attributes["error_message"]).value


def _filled(text: str, numbers: Sequence[list[int] | None]) -> str:
    """``text`` with the numbers in the places that name them; places of others stay.

    >>> _filled("a is {0}, b is {1}, {{c}} is {2}, {d}", [[3], None])
    'a is 3, b is ?, {c} is {2}, {d}'
    """

    def number(place: re.Match[str]) -> str:
        if place[0] in ("{{", "}}"):
            return place[0][0]
        index = int(place[1])
        return ", ".join(map(str, numbers[index] or ["?"])) if index < len(numbers) else place[0]

    return re.sub(r"\{\{|\}\}|\{([0-9]{1,6})\}", number, text)


def drop_assertions(module: ir.Operation) -> None:
    """Erase the assertions about sizes, which hold."""
    for op in _assertions(module):
        op.erase()


def _assertions(module: ir.Operation) -> list[ir.Operation]:
    calls = list_ops(module, "stablehlo.custom_call")
    return [op for op in calls if ir.StringAttr(op.attributes["call_target_name"]).value == "shape_assertion"]


def _numbers(value: ir.Value) -> list[int] | None:
    """The elements of a tensor that is a constant."""
    constant = defining_op(value, "stablehlo.constant")
    return None if constant is None else list(map(int, ir.DenseIntElementsAttr(constant.attributes["value"])))
