"""``ipu-copy-views``: a copy with a mapping of its own where bufferization would copy part of a tensor."""

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.place_tensors import bring_operands
from ipu_mlir.passes.supersteps.bufferization import BUFFERIZE
from ipu_mlir.passes.supersteps.materialize_casts import MaterializeCasts
from ipu_mlir.passes.support.placement_hints import MAP, PARTS
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes

_IN_PLACE = "__inplace_operands_attr__"
"""Of an op after the analysis: for each operand "true", "false" where it will be copied, or "none"."""
_ACCESS, _EQUIVALENT = "bufferization.access", "__equivalent_func_args__"
"""Of arguments and returns of functions after the analysis. Bufferization believes the first if it finds it."""
_ANALYSIS = f"builtin.module({BUFFERIZE.removesuffix('}')} test-analysis-only}})"


class CopyViews(Pass):
    """Copy parts of tensors that bufferization would copy, each to a mapping of its own size.

    Bufferization copies a view where it cannot tell that nobody writes what the view shows: in a branch whose result
    may be the tensor, say. It would allocate the copy with the mapping of the tensor, which has another size.

    Needs:  placed tensors, without casts between mappings (``ipu-materialize-casts``); ``ipu.map`` on views of parts,
            which says where a copy would lie (``ipu-place-tensors``); codelets that use their operands
            (``ipu-use-codelet-operands``).
    Leaves: no view of a part that bufferization copies, and no ``ipu.map``; copies as ``ipu-materialize-casts`` leaves
            them.
    """

    name = "ipu-copy-views"

    def run(self, module: ir.Operation) -> None:
        num_parts = sum(MAP in op.attributes for op in list_ops(module, *VIEW_OPS))
        with module.context, ir.Location.unknown():
            for _ in range(num_parts):  # a copy more may change what bufferization does about other views
                copied = _copied_parts(module)
                for view in copied:
                    _copy(view)
                if not copied:
                    break
                MaterializeCasts().run(module)
        for view in list_ops(module, *VIEW_OPS):
            if MAP in view.attributes:
                del view.attributes[MAP]


def _copied_parts(module: ir.Operation) -> list[ir.Operation]:
    """The views of parts that bufferization would copy."""
    passmanager.PassManager.parse(_ANALYSIS).run(module)
    found = []
    for op in list_ops(module):
        if _IN_PLACE in op.attributes:
            if op.name in VIEW_OPS and str(op.attributes[_IN_PLACE][0]) == '"false"' and MAP in op.attributes:
                found.append(op)
            del op.attributes[_IN_PLACE]
        elif _EQUIVALENT in op.attributes:
            del op.attributes[_EQUIVALENT]
        elif op.name == "func.func":
            entries = value_attributes(op, "arg_attrs")
            set_value_attributes(op, "arg_attrs", [_without_access(entry) for entry in entries])
    return found


def _without_access(entry: dict[str, ir.Attribute]) -> dict[str, ir.Attribute]:
    return {name: each for name, each in entry.items() if name != _ACCESS}


def _copy(view: ir.Operation) -> None:
    """Let all users of ``view`` read a copy of what it shows."""
    result = view.results[0]
    encoding = view.attributes[MAP]
    del view.attributes[MAP]
    with ir.InsertionPoint.after(view), view.location:
        wanted = ir.RankedTensorType.get(result.type.shape, result.type.element_type, encoding)
        cast = upstream("tensor").CastOp(wanted, result)
    result.replace_all_uses_except(cast.result, cast.operation)
    _show_readers(cast.result, encoding)


def _show_readers(value: ir.Value, encoding: ir.Attribute) -> None:
    """Give the views of ``value`` its mapping, and bring it to where their readers run."""
    for use in list(value.uses):
        user = use.owner.operation
        if user.name in VIEW_OPS:
            result = user.results[0]
            result.set_type(ir.RankedTensorType.get(result.type.shape, result.type.element_type, encoding))
            _show_readers(result, encoding)
            continue
        while user.name != "func.func" and not is_structured(user):
            user = user.parent.operation
        if PARTS in user.attributes:
            bring_operands(user)
