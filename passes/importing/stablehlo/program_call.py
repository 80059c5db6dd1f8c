"""The form of a row of ``CALLS``: a custom call named ``ipu.*`` and the ops that it stands for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.support.bindings import ir

PREFIX = "ipu."
TOKEN = "token"
"""Attribute of a call whose first operand and first result only keep it in its order."""

CONDITION = "condition"
"""Which function of a call says whether it goes on."""

FORWARD, BACKWARD = "forward", "backward"
"""Which functions of a call are its derivative: one gives more than the results, the other takes that."""


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
        functions: the names of the functions of the module that it calls.
    """

    operands: Sequence[ir.Value]
    takes: Sequence[ir.Type]
    gives: Sequence[ir.Type]
    unsigned: Sequence[bool]
    attributes: Mapping[str, ir.Attribute]
    functions: Sequence[str] = ()

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
    """The ops that a call of one name stands for.

    Attributes:
        says: the meaning.
        make: from the call, in its place, to the values of its results.
        operands, results: how many, without the token; None for any number.
        settings: attributes by name.
        scalars: numbers of the operands that are one integer of 32 bits.
        is_ordered: whether it may have a token, to stay where it is among others that have one.
        keeps_types: whether the results are of the operands' types.
        functions: what those are for that it names as ``called_computations``; each takes the operands, but for the
            backward part of a derivative. One that is the condition of a loop gives a truth value, the forward part of
            a derivative further results, any other the results. Integers keep their sign.
        symbol: the op of the module that it needs.
        wrong: the error of a call as far as the rest says nothing of it, as the end of a sentence.
    """

    says: str
    make: Callable[[Call], Sequence[ir.Value]]
    operands: int | None = 0
    results: int | None = 0
    settings: Mapping[str, Setting] = field(default_factory=dict)
    scalars: Sequence[int] = ()
    is_ordered: bool = False
    keeps_types: bool = False
    functions: Sequence[str] = ()
    symbol: Symbol | None = None
    wrong: Callable[[Call], str | None] = lambda call: None
