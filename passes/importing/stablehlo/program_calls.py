"""Custom calls named ``ipu.*``, by which StableHLO carries the ops of programs: ``CALLS`` is the table of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.ipu import AssignOp, DequeueOp, ElementOp, EnqueueOp, PlaceOp, PrintOp, PutOp, ReadOp
from ipu_mlir.dialects.ops.streams import MODES
from ipu_mlir.dialects.support.bindings import ir

PREFIX = "ipu."
TOKEN = "token"
"""Attribute of a call whose first operand and first result only keep it in its order."""


@dataclass(frozen=True)
class Setting:
    """An attribute of a call.

    Attributes:
        kind: what it is made of, as ``KINDS`` in ``read_program_calls`` names it.
        says: what for.
        is_required: whether a call without it is an error.
        choices: all that it may say, where these are few.
    """

    kind: str
    says: str
    is_required: bool = False
    choices: Sequence[str] = ()


@dataclass(frozen=True)
class Call:
    """A custom call that is what its row of ``CALLS`` asks for, without its token.

    Attributes:
        operands: what it takes.
        takes, gives: the types of operands and results; integers have no sign.
        unsigned: for each operand, whether it has integers from 0 on.
        attributes: those that are given, by name.
    """

    operands: Sequence[ir.Value]
    takes: Sequence[ir.Type]
    gives: Sequence[ir.Type]
    unsigned: Sequence[bool]
    attributes: Mapping[str, ir.Attribute]

    def chosen(self, *names: str) -> dict[str, ir.Attribute]:
        """Those of the attributes ``names`` that are given."""
        return {name: self.attributes[name] for name in names if name in self.attributes}


@dataclass(frozen=True)
class Symbol:
    """An op of the module that a call needs, as far as the call knows it; several calls say it together.

    Attributes:
        name: the attribute of the call that has its name.
        attributes: what the call says of it.
        defaults: what it has where no call says it.
    """

    op: str
    name: str
    attributes: Callable[[Call], Mapping[str, ir.Attribute]]
    defaults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ProgramCall:
    """What a call of one name stands for.

    Attributes:
        says: the meaning.
        make: from the call, in its place, to the values of its results.
        operands, results: how many, without the token; None for any number.
        settings: attributes by name.
        is_ordered: whether it may have a token, to stay where it is among others that have one.
        keeps_types: whether the results are of the operands' types.
        symbol: the op of the module that it needs.
    """

    says: str
    make: Callable[[Call], Sequence[ir.Value]]
    operands: int | None = 0
    results: int | None = 0
    settings: Mapping[str, Setting] = field(default_factory=dict)
    is_ordered: bool = False
    keeps_types: bool = False
    symbol: Symbol | None = None


def _dequeue(call: Call) -> list[ir.Value]:
    queue = call.attributes["queue"]
    DequeueOp(queue=queue)
    ops = [ElementOp(queue=queue, index=_number(index), value=kind) for index, kind in enumerate(call.gives)]
    return [op.operation.results[0] for op in ops]


def _enqueue(call: Call) -> list[ir.Value]:
    queue = call.attributes["queue"]
    for index, value in enumerate(call.operands):
        PutOp(queue=queue, index=_number(index), value=value)
    EnqueueOp(queue=queue)
    return []


def _assign(call: Call) -> list[ir.Value]:
    AssignOp(variable=call.attributes["variable"], value=call.operands[0])
    return []


def _read(call: Call) -> list[ir.Value]:
    return list(ReadOp(variable=call.attributes["variable"], value=call.gives[0]).operation.results)


def _place(call: Call) -> list[ir.Value]:
    op = PlaceOp(source=call.operands[0], mapping=call.attributes["mapping"], placed=call.gives[0])
    return list(op.operation.results)


def _print(call: Call) -> list[ir.Value]:
    op = PrintOp(label=call.attributes["label"], value=call.operands[0])
    if call.unsigned[0]:
        op.operation.attributes["unsigned"] = ir.UnitAttr.get()
    return []


def _number(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _types(kinds: Sequence[ir.Type]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.TypeAttr.get(kind) for kind in kinds])


_QUEUE = Setting("a name", "the name of the queue", is_required=True)
_VARIABLE = Setting("a name", "the name of the variable", is_required=True)

CALLS: dict[str, ProgramCall] = {
    "assign": ProgramCall(
        "gives a variable of the device a value, which it keeps from run to run",
        _assign,
        operands=1,
        settings={"variable": _VARIABLE},
        is_ordered=True,
        symbol=Symbol("ipu.variable", "variable", lambda call: {"type": ir.TypeAttr.get(call.takes[0])}),
    ),
    "barrier": ProgramCall(
        "gives its operands when all of them are there, as everything does where one superstep follows another",
        lambda call: call.operands,
        operands=None,
        results=None,
        is_ordered=True,
        keeps_types=True,
    ),
    "dequeue": ProgramCall(
        "takes the next element from the host, one result for each of its tensors",
        _dequeue,
        results=None,
        settings={
            "queue": _QUEUE,
            "prefetch_depth": Setting("an integer", "how many elements may wait, from 1 to 255; 3 if not said"),
        },
        is_ordered=True,
        symbol=Symbol(
            "ipu.infeed", "queue", lambda call: {"types": _types(call.gives), **call.chosen("prefetch_depth")}
        ),
    ),
    "enqueue": ProgramCall(
        "hands an element to the host, one operand for each of its tensors",
        _enqueue,
        operands=None,
        settings={
            "queue": _QUEUE,
            "mode": Setting(
                "text", "whether the queue keeps all elements, or the last one; all if not said", False, MODES
            ),
        },
        is_ordered=True,
        symbol=Symbol(
            "ipu.outfeed",
            "queue",
            lambda call: {"types": _types(call.takes), **call.chosen("mode")},
            {"mode": "all"},
        ),
    ),
    "place": ProgramCall(
        "says on which tiles a value is stored",
        _place,
        operands=1,
        results=1,
        settings={
            "mapping": Setting(
                "a mapping, as in #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>",
                "which tile has which elements",
                is_required=True,
            )
        },
        keeps_types=True,
    ),
    "print": ProgramCall(
        "shows a value on standard error of the host",
        _print,
        operands=1,
        settings={"label": Setting("text", "what stands before the value", is_required=True)},
        is_ordered=True,
    ),
    "read": ProgramCall(
        "gives the value that a variable of the device has at this point",
        _read,
        results=1,
        settings={"variable": _VARIABLE},
        is_ordered=True,
        symbol=Symbol("ipu.variable", "variable", lambda call: {"type": ir.TypeAttr.get(call.gives[0])}),
    ),
}
"""By name without the prefix: a new row is all that a new call needs."""
