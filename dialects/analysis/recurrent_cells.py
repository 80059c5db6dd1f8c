"""The cells of recurrent networks among element-wise ops: what a gate keeps of a state, and what it lets through."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir

RECURRENCE = "ipu.recurrence"
"""Attribute of a loop over the steps of a recurrent layer, and of the ops that its cells are made of: ``"lstm"``."""
FAMILIES = ("lstm", "gru", "lstm_gradient", "gru_gradient")
"""The last two are of the loops that go back over the steps of a layer for its gradient."""
_PARTS = ("tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape")


def family_from_attr(attribute: ir.Attribute) -> str:
    """The family of codelets that ``ipu.recurrence`` names.

    Raises:
        ValueError: it names none.
    """
    name = ir.StringAttr(attribute).value if isinstance(attribute, ir.StringAttr) else ""
    if name not in FAMILIES:
        known = ", ".join(f'"{each}"' for each in FAMILIES)
        raise ValueError(f"has {RECURRENCE} = {attribute}; families of codelets are {known}")
    return name


def family_mark(op: ir.Operation) -> dict[str, ir.Attribute]:
    """``ipu.recurrence`` of ``op``, for the ops that it is divided into; nothing where it has none."""
    return {RECURRENCE: op.attributes[RECURRENCE]} if RECURRENCE in op.attributes else {}


def recurrent_cell(block: ir.Block) -> str | None:
    """The name of the cell that the body ``block`` of an element-wise op computes, or None.

    ``lstm_state``: ``sigmoid(f) * c + sigmoid(i) * tanh(g)``. ``lstm_output``: ``sigmoid(o) * tanh(c)``. ``gru_state``:
    ``z * h + (1 - z) * tanh(n)``, where ``z`` may come from elsewhere (with an attention in it, for AUGRU), or
    ``tanh(n) + z * (h - tanh(n))`` with ``z`` a sigmoid. Where a sequence has ended, another value may take its place.
    On tensors, ops before this one may compute the gates: a gradient keeps them, so that they are not fused.
    """
    yielded = list(block.operations)[-1].operation.operands
    return next((name for value in yielded for each in _choices(value) if (name := _cell(each)) is not None), None)


def _choices(value: ir.Value) -> list[ir.Value]:
    """``value``, or those that a selection chooses it from."""
    op = _made_by(value, "arith.select")
    return [value] if op is None else [each for arm in list(op.operands)[1:] for each in _choices(arm)]


def _made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    return defining_op(_origin(value), *names)


def _origin(value: ir.Value) -> ir.Value:
    """``value``, or what element-wise ops that it goes through have it from: a scalar of one of them, or a tensor."""
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            if owner.owner.name != "linalg.generic":
                return value
            value = owner.owner.operation.operands[ir.BlockArgument(value).arg_number]
        elif owner.name == "linalg.generic" and "reduction" not in str(owner.attributes["iterator_types"]):
            value = terminator(owner.regions[0].blocks[0]).operands[ir.OpResult(value).result_number]
        else:
            return value


def _cell(value: ir.Value) -> str | None:
    if any(_is_gate(one) and _is_tanh(other) for one, other in _terms(value, "arith.mulf")):
        return "lstm_output"
    for one, other in _terms(value, "arith.addf"):
        if _is_gru(one, other):
            return "gru_state"
        lets_in = any(_is_gate(a) and _is_tanh(b) for a, b in _terms(one, "arith.mulf"))
        if lets_in and any(_is_gate(a) for a, _ in _terms(other, "arith.mulf")):
            return "lstm_state"
    return None


def _is_gru(one: ir.Value, other: ir.Value) -> bool:
    """True if the sum of both moves a state to a tanh as far as a gate says."""
    for gate, difference in _terms(one, "arith.mulf"):
        op = defining_op(difference, "arith.subf")
        if _is_gate(gate) and op is not None and _is_tanh(other) and _origin(op.operands[1]) == other:
            return True
    gates = {gate for gate, _ in _terms(other, "arith.mulf")}
    for rest, candidate in _terms(one, "arith.mulf"):
        op = defining_op(rest, "arith.subf")
        if op is not None and _is(op.operands[0], 1) and _origin(op.operands[1]) in gates and _is_tanh(candidate):
            return True
    return False


def _terms(value: ir.Value, name: str) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The origins of both operands of the op ``name`` that makes ``value``, in both orders."""
    op = _made_by(value, name)
    if op is not None:
        one, other = (_origin(each) for each in op.operands)
        yield one, other
        yield other, one


def _is_tanh(value: ir.Value) -> bool:
    return _computed_by(value, "math.tanh") is not None


def _is_gate(value: ir.Value) -> bool:
    """True for ``1 / (1 + exp(-x))``."""
    quotient = _computed_by(value, "arith.divf")
    if quotient is None or not _is(quotient.operands[0], 1):
        return False
    for one, other in _terms(quotient.operands[1], "arith.addf"):
        power = defining_op(other, "math.exp") if _is(one, 1) else None
        if power is not None and _made_by(power.operands[0], "arith.negf") is not None:
            return True
    return False


def _computed_by(value: ir.Value, name: str) -> ir.Operation | None:
    """The op ``name`` that computes ``value``, or a tensor of which it is a part."""
    while (part := _made_by(value, *_PARTS)) is not None:
        value = part.operands[0]
    return _made_by(value, name)


def _is(value: ir.Value, number: float) -> bool:
    constant = constant_of(_origin(value))
    return isinstance(constant, ir.FloatAttr) and constant.value == number
