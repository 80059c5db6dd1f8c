"""``ipu-convert-callbacks``: calls of Python that JAX leaves in a program are calls of functions of the host."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import full
from ipu_mlir.passes.importing.stablehlo.program_call import PREFIX, TOKEN
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.value_attributes import Which, set_function_type, set_value_attributes, value_attributes

CALLBACK = "xla_ffi_python_cpu_callback"
"""The custom call by which JAX calls function number ``index`` of a list that it keeps beside the program."""
HOST_FUNCTION = "python{}"
"""How the function of a number is called."""
_MAKES_TOKEN = ("stablehlo.create_token", "stablehlo.after_all")


class ConvertCallbacks(Pass):
    """Let calls of Python, as of ``jax.pure_callback`` and ``jax.debug.print``, be calls of host functions.

    What keeps such calls in their order is a token, which is a truth value afterwards.

    Needs:  StableHLO, as it comes in.
    Leaves: custom calls of ``ipu.host_call``, of functions ``python0``, ``python1`` and so on; no tokens.
    """

    name = "ipu-convert-callbacks"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in filter(is_callback, list_ops(module, "stablehlo.custom_call")):
                with ir.InsertionPoint(op), op.location:
                    _convert(op)
            if any(map(_is_token, _values_in(module))):
                _convert_tokens(module)


def is_callback(op: ir.Operation) -> bool:
    """True if ``op`` is a custom call of Python."""
    return op.name == "stablehlo.custom_call" and ir.StringAttr(op.attributes["call_target_name"]).value == CALLBACK


def _convert(op: ir.Operation) -> None:
    number = ir.IntegerAttr(ir.DictAttr(op.attributes["mhlo.backend_config"])["index"]).value
    call = {
        "call_target_name": ir.StringAttr.get(f"{PREFIX}host_call"),
        "has_side_effect": ir.BoolAttr.get(True),
        "mhlo.backend_config": ir.DictAttr.get(
            {
                "function": ir.StringAttr.get(HOST_FUNCTION.format(number)),
                TOKEN: ir.BoolAttr.get(any(map(_is_token, op.operands))),
            }
        ),
    }
    types = [result.type for result in op.results]
    replace_op(op, list(ir.Operation.create(op.name, types, list(op.operands), call).results))


def _convert_tokens(module: ir.Operation) -> None:
    """Let tokens be truth values; public functions make their own, and give none."""
    public = [(each, _tokens(each)) for each in _functions(module) if not _is_private(each)]
    truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    for value in filter(_is_token, _values_in(module)):
        value.set_type(truth)
    for op in list_ops(module, *_MAKES_TOKEN):
        with ir.InsertionPoint(op), op.location:
            replace_op(op, [full(truth, 0)])
    for function, (taken, given) in public:
        _drop(function, taken, given)
    for function in _functions(module):
        set_function_type(function)


def _functions(module: ir.Operation) -> list[ir.Operation]:
    return [each for each in list_ops(module, "func.func") if each.regions[0].blocks]


def _tokens(function: ir.Operation) -> tuple[list[int], list[int]]:
    """Which arguments and which results of a function are tokens."""
    (block,) = function.regions[0].blocks
    taken, given = (map(_is_token, values) for values in (block.arguments, terminator(block).operands))
    return [n for n, each in enumerate(taken) if each], [n for n, each in enumerate(given) if each]


def _drop(function: ir.Operation, taken: list[int], given: list[int]) -> None:
    """Take arguments and results of those numbers from a function."""
    (block,) = function.regions[0].blocks
    end = terminator(block)
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create(end.name, [], [each for n, each in enumerate(end.operands) if n not in given])
    end.erase()
    with ir.InsertionPoint.at_block_begin(block), function.location:
        for number in reversed(taken):
            argument = block.arguments[number]
            argument.replace_all_uses_with(full(argument.type, 0))
            block.erase_argument(number)
    dropped_of: dict[Which, list[int]] = {"arg_attrs": taken, "res_attrs": given}
    for name, dropped in dropped_of.items():
        entries = value_attributes(function, name)
        set_value_attributes(function, name, [each for n, each in enumerate(entries) if n not in dropped])


def _is_private(function: ir.Operation) -> bool:
    return "private" in str(function.attributes.get("sym_visibility", ""))


def _is_token(value: ir.Value) -> bool:
    return str(value.type) == "!stablehlo.token"


def _values_in(module: ir.Operation) -> Iterator[ir.Value]:
    for op in list_ops(module):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.arguments
