"""Statements: a program between reading and emitting is a list of these, in order of execution."""

from dataclasses import dataclass, replace
from functools import cached_property

from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import Const, Expression, Read, reads


@dataclass(frozen=True)
class Origin:
    """The op that a statement comes from, for comments and messages."""

    op: str
    location: str


@dataclass(frozen=True)
class Statement:
    """Something done once for every point of a box of loops of the given extents."""

    extents: tuple[int, ...]
    origin: Origin

    def sources(self) -> list[Access]:
        """Everything that is read."""
        raise NotImplementedError

    def dests(self) -> list[Access]:
        """Everything that is written."""
        raise NotImplementedError


@dataclass(frozen=True)
class Computed(Statement):
    """Something that evaluates expressions. What those read is asked in every step of translation, and found once."""

    def expressions(self) -> tuple[Expression, ...]:
        """All that are evaluated."""
        raise NotImplementedError

    @cached_property
    def _reads(self) -> tuple[Access, ...]:
        return tuple(reads(self.expressions()))

    def sources(self) -> list[Access]:
        return list(self._reads)


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """All that ``statement`` evaluates; nothing for one that only names arrays."""
    return statement.expressions() if isinstance(statement, Computed) else ()


@dataclass(frozen=True)
class Elementwise(Computed):
    """``outputs[i] <- values[i]`` at every point; no loop is reduced. Fills and copies are of this kind."""

    outputs: tuple[Access, ...]
    values: tuple[Expression, ...]

    def expressions(self) -> tuple[Expression, ...]:
        return self.values

    def dests(self) -> list[Access]:
        return list(self.outputs)

    def copied(self) -> Access | None:
        """The source, if this is a plain copy."""
        if len(self.values) == 1 and isinstance(self.values[0], Read):
            return self.values[0].access
        return None

    def filled(self) -> Const | None:
        """The scalar, if this is a plain fill."""
        if len(self.values) == 1 and isinstance(self.values[0], Const):
            return self.values[0]
        return None


@dataclass(frozen=True)
class Fold(Computed):
    """A reduction as the IR has it: ``outputs`` start from ``inits`` and are updated by ``values`` at each point.

    ``reduced[l]`` tells whether loop ``l`` is a reduction. ``decompose`` turns it into the statements below.
    """

    reduced: tuple[bool, ...]
    outputs: tuple[Access, ...]
    inits: tuple[Expression, ...]
    values: tuple[Expression, ...]

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.values, *self.inits)

    def dests(self) -> list[Access]:
        return list(self.outputs)


@dataclass(frozen=True)
class Dot(Statement):
    """``out <- sum of a * b`` over the loops that ``out`` does not move with."""

    a: Access
    b: Access
    out: Access

    def sources(self) -> list[Access]:
        return [self.a, self.b]

    def dests(self) -> list[Access]:
        return [self.out]


@dataclass(frozen=True)
class Reduce(Statement):
    """``out <- call over all of source`` along the loops that are ``reduced``; ``call`` is a NumPy ufunc."""

    reduced: tuple[bool, ...]
    call: str
    source: Access
    out: Access
    unsigned: bool = False

    def sources(self) -> list[Access]:
        return [self.source]

    def dests(self) -> list[Access]:
        return [self.out]


@dataclass(frozen=True)
class FirstExtreme(Reduce):
    """``out <- the place of the first of the largest (or smallest) elements of source``, counting reduced points.

    ``call`` is ``first_maximum`` or ``first_minimum`` of ``ipu_mlir.runtime.numeric``. What is compared with each other
    is evenly spaced.
    """


@dataclass(frozen=True)
class Scan(Computed):
    """A reduction with any body: reduction loops run one point at a time over whole parallel planes.

    ``outputs`` hold their initial values already; ``values`` read them where the body uses its running values.
    """

    reduced: tuple[bool, ...]
    outputs: tuple[Access, ...]
    values: tuple[Expression, ...]

    def expressions(self) -> tuple[Expression, ...]:
        return self.values

    def dests(self) -> list[Access]:
        return list(self.outputs)


@dataclass(frozen=True)
class SliceUpdate(Computed):
    """``out <- old``, but ``value`` where each of ``loops`` is at its index or one of the next ``sizes`` - 1 points.

    The indexes are the same numbers at every point. ``value`` counts those loops from their index on. An index of a
    single point may lie outside: then nothing is written. Longer slices are known to lie inside.
    """

    loops: tuple[int, ...]
    indexes: tuple[Expression, ...]
    sizes: tuple[int, ...]
    value: Expression
    old: Access
    out: Access

    def box(self) -> tuple[int, ...]:
        """The extents of what is written."""
        sizes = dict(zip(self.loops, self.sizes, strict=True))
        return tuple(sizes.get(loop, n) for loop, n in enumerate(self.extents))

    def expressions(self) -> tuple[Expression, ...]:
        return (*self.indexes, self.value)

    def sources(self) -> list[Access]:
        return [*self._reads, self.old]

    def dests(self) -> list[Access]:
        return [self.out]


@dataclass(frozen=True)
class Check(Computed):
    """The run fails with ``message`` unless ``values`` (one of them, of truth values) hold at every point."""

    values: tuple[Expression, ...]
    message: str

    def expressions(self) -> tuple[Expression, ...]:
        return self.values

    def dests(self) -> list[Access]:
        return []


@dataclass(frozen=True)
class LibraryCall(Statement):
    """``outputs <- codelet(inputs)``, on whole arrays; there are no loops.

    An access has one stride per dimension of its array, whose shape is in ``shapes`` (inputs, then outputs). Where
    ``updated`` holds, the codelet changes what the output held, which is a last input then.
    """

    codelet: str
    inputs: tuple[Access, ...]
    outputs: tuple[Access, ...]
    shapes: tuple[tuple[int, ...], ...]
    updated: tuple[bool, ...]

    def sources(self) -> list[Access]:
        return [*self.inputs, *(out for out, old in zip(self.outputs, self.updated, strict=True) if old)]

    def dests(self) -> list[Access]:
        return list(self.outputs)


@dataclass(frozen=True)
class Transfer(LibraryCall):
    """A call of the host, in the order of the program: ``HOST_CALLS`` has a row for each.

    ``codelet`` says which. ``queue`` is the queue, remote buffer or label that it is about, ``index`` the number that
    goes with it. It reads the inputs and writes the output, if there is one.
    """

    queue: str = ""
    index: int = 0


@dataclass(frozen=True)
class FunctionCall(LibraryCall):
    """A call of a ``function`` of the program, on arrays that lie row by row; it has no codelet.

    The inputs are its arguments; the outputs are its state, which it updates, and then its results.
    """

    function: str = ""


@dataclass(frozen=True)
class Program:
    """A function: its arguments, what it does, and which buffers it gives back, with their shapes.

    ``functions`` are those that are called, each behind those that it calls itself. Numbers of a function that
    ``is_called`` are never bits.
    """

    name: str
    arguments: tuple[Buffer, ...]
    statements: tuple[Statement, ...]
    results: tuple[Access, ...]
    result_shapes: tuple[tuple[int, ...], ...]
    functions: tuple["Program", ...] = ()
    is_called: bool = False

    def read_afterwards(self) -> list[Buffer]:
        """The buffers that somebody reads when the program has ended: results, and state."""
        state = [buffer for buffer in self.arguments if buffer.role is Role.STATE]
        return [*(access.buffer for access in self.results), *state]

    def with_statements(self, statements: list[Statement]) -> "Program":
        return replace(self, statements=tuple(statements))
