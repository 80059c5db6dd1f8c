"""The name of the codelet that runs a structured op: what it does and on which type, ``matmul_f32``."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest
from ipu_mlir.dialects.analysis.operand_types import result_dtype
from ipu_mlir.dialects.analysis.recurrent_cells import RECURRENCE, recurrent_cell
from ipu_mlir.dialects.support.bindings import ir

_ARITIES = ("nullary", "unary", "binary", "ternary")


def codelet_name(op: ir.Operation, nest: LoopNest) -> str:
    """``operation_dtype`` for the vertices of ``op``; the dtype is that of the first result.

    Cells of LSTM and GRU layers have one name each, whichever front end wrote them; in a loop over the steps of such a
    layer, products and other element-wise ops have names of its family too: ``lstm_product``, ``lstm_gates``, and
    ``lstm_gradient_product`` in the loop back over the steps.
    """
    name, dtype = op.name.removeprefix("linalg."), result_dtype(op, nest)
    attributes = op.attributes
    if RECURRENCE in attributes:
        return f"{_part_of_layer(op, nest)}_{dtype}"
    if "library_call" in attributes:
        return f"{ir.StringAttr(attributes['library_call']).value}_{dtype}"
    if name != "generic":
        return f"{name}_{dtype}"
    if nest.loads:
        return f"gather_{dtype}"
    body = [inner.operation for inner in op.regions[0].blocks[0].operations]
    if len(body) == 1:
        return f"{'copy' if nest.num_inputs else 'fill'}_{dtype}"
    if not all(nest.parallel):
        return f"{'contraction' if _is_contraction(body, nest) else 'reduce'}_{dtype}"
    if len(body) == 2:
        return f"{body[0].name.split('.')[1]}_{dtype}"
    cell = recurrent_cell(op.regions[0].blocks[0])
    if cell is not None:
        return f"{cell}_{dtype}"
    return f"{_ARITIES[nest.num_inputs] if nest.num_inputs < len(_ARITIES) else 'map'}_{dtype}"


def _part_of_layer(op: ir.Operation, nest: LoopNest) -> str:
    """The name of what ``op`` does in a recurrent layer; whoever wrote a family that there is not reads it here."""
    cell = recurrent_cell(op.regions[0].blocks[0]) if op.name == "linalg.generic" else None
    family = str(op.attributes[RECURRENCE]).strip('"')
    return cell or f"{family}_{'gates' if all(nest.parallel) else 'product'}"


def _is_contraction(body: list[ir.Operation], nest: LoopNest) -> bool:
    names = tuple(operation.name for operation in body if operation.name not in ("arith.extf", "arith.extsi"))
    return nest.num_inputs == 2 and names in (
        ("arith.mulf", "arith.addf", "linalg.yield"),
        ("arith.muli", "arith.addi", "linalg.yield"),
    )
