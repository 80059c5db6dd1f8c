"""``ipu-raise-recurrences``: loops over the steps of LSTM and GRU layers are one family of codelets."""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, is_made_inside, terminator
from ipu_mlir.dialects.analysis.recurrent_cells import RECURRENCE, recurrent_cell
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.costs.sums_of_products import contraction
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.loops.loop_rows import of_all_rows
from ipu_mlir.passes.support.clone import operands_from_outside
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC, VIEW_OPS, slice_offsets


@dataclass(frozen=True)
class RaiseRecurrences(Pass):
    """Mark loops that carry the state of an LSTM or GRU cell, and multiply the inputs of all their steps at once.

    The loop and the products and element-wise ops that its cells are made of get ``ipu.recurrence``, ``"lstm"`` or
    ``"gru"``: their codelets have names of that family, ``lstm_product``, ``lstm_gates``, ``lstm_state`` and
    ``lstm_output``, whichever front end wrote the layer. A loop that takes what such a loop has stored, and multiplies
    by its weights, computes its gradient: it gets ``"lstm_gradient"`` or ``"gru_gradient"``.

    A product of the input of a step and weights is a row of the product of the whole sequence, which is computed before
    the loop: the accumulating units are fuller, and a step has one superstep less. PopLibs calls that
    ``preCalcWeights``. It needs memory as long as the loop runs: where that would be more than ``memory-proportion`` of
    an IPU, a sixteenth by default, each step multiplies its own.

    Needs:  linalg on tensors, loops that count (``ipu-raise-counted-loops``), rows as slices.
    Leaves: ``ipu.recurrence`` on loops with such cells, and in them no product of a row of a sequence and weights that
            there is memory for.
    """

    name = "ipu-raise-recurrences"

    memory_proportion: float = 0.0625

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            most_bytes = self.memory_proportion * target.tiles_per_ipu * target.bytes_per_tile
            layers, others = [], []
            for loop in list_ops(module, "scf.for"):
                layer = _layer(loop)
                if layer is None:
                    others.append(loop)
                else:
                    layers.append(layer)
            gradients = [found for loop in others if (found := _gradient(loop, layers)) is not None]
            for each in (*layers, *gradients):
                for op in (each.loop, *each.ops):
                    op.attributes[RECURRENCE] = ir.StringAttr.get(each.family)
            for layer in layers:
                for op in layer.ops:
                    _multiply_before(op, layer.loop, most_bytes)


class _Layer(NamedTuple):
    """A loop over the steps of a layer, or back over them for its gradient."""

    loop: ir.Operation
    family: str
    ops: list[ir.Operation]

    def weights(self) -> set[ir.Value]:
        """What comes from outside of the loop into its products."""
        products = [op for op in self.ops if (nest := loop_nest(op)) is not None and contraction(op, nest) is not None]
        factors = (value for op in products for value in list(op.operands)[:2])
        return {_whole(value) for value in factors if not is_made_inside(value, self.loop)}


def _layer(loop: ir.Operation) -> _Layer | None:
    ops = _ops_of_cells(loop)
    family = next((cell.partition("_")[0] for op in ops if (cell := _cell(op))), None)
    return None if family is None else _Layer(loop, family, ops)


def _gradient(loop: ir.Operation, layers: list[_Layer]) -> _Layer | None:
    """``loop`` as one of a layer's gradient, if it takes what that layer has stored, and multiplies by its weights."""
    ops = [op.operation for op in loop.regions[0].blocks[0].operations]
    rows = (op.operands[0] for op in ops if op.name == "tensor.extract_slice")
    stored = {_whole(row) for row in rows if not is_made_inside(row, loop)}
    found = _Layer(loop, "", [op for op in ops if is_structured(op) and _computes(op)])
    for layer in layers:
        if stored.intersection(layer.loop.results) and not found.weights().isdisjoint(layer.weights()):
            return found._replace(family=f"{layer.family}_gradient")
    return None


def _whole(value: ir.Value) -> ir.Value:
    """The tensor of which ``value`` is a part, or each of whose elements it has, in another order or type."""
    while (op := defining_op(value)) is not None and (op.name in VIEW_OPS or _maps_one(op)):
        value = op.operands[0]
    return value


def _maps_one(op: ir.Operation) -> bool:
    nest = loop_nest(op) if is_structured(op) else None
    return nest is not None and nest.num_inputs == 1 and all(nest.parallel)


def _cell(op: ir.Operation) -> str | None:
    return recurrent_cell(op.regions[0].blocks[0]) if op.name == "linalg.generic" else None


def _ops_of_cells(loop: ir.Operation) -> list[ir.Operation]:
    """The products and element-wise ops of ``loop`` from which its cells follow, cells that it carries among them."""
    block = loop.regions[0].blocks[0]
    order = [op.operation for op in block.operations]
    carried = set(list(block.arguments)[1:])
    needed = _needed([terminator(block)], loop)
    cells = [op for op in order if op in needed and _cell(op) and _takes(op, carried, loop)]
    needed = _needed(cells, loop)
    return [op for op in order if op in needed and is_structured(op) and _computes(op)]


def _takes(op: ir.Operation, carried: set[ir.Value], loop: ir.Operation) -> bool:
    return any(value in carried for each in _needed([op], loop) for value in operands_from_outside(each))


def _needed(ops: list[ir.Operation], loop: ir.Operation) -> set[ir.Operation]:
    """``ops`` and those right in ``loop`` that compute what they take."""
    found, pending = set(ops), list(ops)
    while pending:
        for value in operands_from_outside(pending.pop()):
            op = defining_op(value)
            if op is not None and op not in found and is_made_inside(value, loop):
                found.add(op)
                pending.append(op)
    return found


def _computes(op: ir.Operation) -> bool:
    """True for ops on floats that are neither fills nor copies nor gathers nor library calls."""
    nest = loop_nest(op)
    body = len(op.regions[0].blocks[0].operations) if len(op.regions) else 0
    if nest is None or nest.loads or "library_call" in op.attributes or body < 2:
        return False
    return any(isinstance(result.type.element_type, ir.FloatType) for result in op.results)


def _multiply_before(op: ir.Operation, loop: ir.Operation, most_bytes: float) -> None:
    """Let a product of a row of a sequence be a row of the product of the sequence, if there is memory for that."""
    nest, rounds = loop_nest(op), _rounds(loop)
    if nest is None or rounds is None or len(op.results) != 1 or contraction(op, nest) is None:
        return
    inputs = list(op.operands)[: nest.num_inputs]
    found = [(number, row) for number, value in enumerate(inputs) if (row := _row_of(value, loop)) is not None]
    fill = defining_op(op.operands[nest.num_inputs], "linalg.fill")
    if len(found) != 1 or fill is None:
        return
    ((number, row),) = found
    others = [value for place, value in enumerate(inputs) if place != number]
    if any(is_made_inside(value, loop) for value in (*others, fill.operands[0])):
        return
    steps, kind = row.operands[0].type.shape[0], op.results[0].type
    num_bytes = steps * prod(kind.shape) * element_bytes(kind.element_type)
    if steps <= rounds and num_bytes <= most_bytes:
        _write(op, number, row, fill.operands[0], loop)


def _rounds(loop: ir.Operation) -> int | None:
    row = control_op(loop)
    return None if row is None else row.trip_count(loop)


def _row_of(value: ir.Value, loop: ir.Operation) -> ir.Operation | None:
    """The slice of a whole row, without its axis, of a tensor from outside of ``loop``."""
    op = defining_op(value, "tensor.extract_slice")
    if op is None or not is_made_inside(value, loop) or is_made_inside(op.operands[0], loop):
        return None
    whole, first, *others = op.operands[0].type, *slice_offsets(op)
    is_row = list(value.type.shape) == list(whole.shape)[1:] and isinstance(first, ir.Value)
    return op if is_row and all(each == 0 for each in others) else None


def _write(op: ir.Operation, number: int, row: ir.Operation, start: ir.Value, loop: ir.Operation) -> None:
    """Put the product of the whole sequence before ``loop``, and a slice of it in the place of ``op``.

    Args:
        number: of the operand that is a row.
        start: what the sums begin with.
    """
    tensor, kind = upstream("tensor"), op.results[0].type
    with ir.InsertionPoint(loop), op.location:
        empty = tensor.EmptyOp([row.operands[0].type.shape[0], *kind.shape], kind.element_type).result
        filled = fill_with(start, empty).results[0]
        whole = of_all_rows(op, {op.operands[number]: row.operands[0]}, filled)
    sizes, first = [1, *kind.shape], slice_offsets(row)[0]
    with ir.InsertionPoint(op), op.location:
        offsets, steps_of_slice = [DYNAMIC, *(0 for _ in kind.shape)], [1] * len(sizes)
        part = tensor.ExtractSliceOp(kind, whole, [first], [], [], offsets, sizes, steps_of_slice).result
    replace_op(op, [part])
