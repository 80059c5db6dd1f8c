"""The custom call ``ipu.codelet``: any library codelet on stacks, by its name."""

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.importing.stablehlo.program_call import Call, ProgramCall, Setting
from ipu_mlir.passes.support.codelet_calls import call_codelet


def _name(call: Call) -> str:
    return ir.StringAttr(call.attributes["name"]).value


def _called(call: Call) -> list[ir.Value]:
    kinds = list(map(ir.RankedTensorType, call.gives))
    return call_codelet(
        _name(call), call.operands, [list(each.shape) for each in kinds], [each.element_type for each in kinds]
    )


def _wrong(call: Call) -> str | None:
    try:
        codelet = codelet_named(_name(call))
    except CompileError as error:
        return f"calls a codelet that is not there: {error}"
    if codelet.signature is None:
        return f"calls the library codelet '{codelet.name}', which is none on stacks; write its linalg.generic"
    takes, gives = (list(map(ir.RankedTensorType, each)) for each in (call.takes, call.gives))
    shapes = [tuple(tuple(each.shape) for each in kinds) for kinds in (takes, gives)]
    types = [tuple(str(each.element_type) for each in kinds) for kinds in (takes, gives)]
    if codelet.takes(*shapes) and codelet.takes_types(*types):
        return None
    listed = (", ".join(map(str, kinds)) for kinds in (takes, gives))
    return f"calls the codelet '{codelet.name}' with {' and results '.join(listed)}; it needs {codelet.needs}"


CODELET = ProgramCall(
    "computes a library codelet on stacks, a vertex for each element of a stack",
    _called,
    operands=None,
    results=None,
    settings={"name": Setting("text", "which codelet", is_required=True)},
    wrong=_wrong,
)
