"""Numbers that loops compute live in local variables of the generated function.

A ufunc on arrays without dimensions takes half a microsecond, most of it for finding out that there is one element.
Python's own operators take a tenth of that, with the same bits: integers are Python's, wrapped to their type where they
may leave it, floats are NumPy's scalars of their type.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.types import is_integer
from ipu_mlir.runtime.translator.codegen.control_steps import views_of
from ipu_mlir.runtime.translator.codegen.number_texts import called_function, is_number_call, takes_numbers
from ipu_mlir.runtime.translator.codegen.schedule import MOST_NESTED, Call, ControlStep, Step, View


@dataclass
class LocalNumbers:
    """Numbers that live in local variables, by place: the type as which each is written.

    ``unset`` are those that may be read before anything is written; they begin at 0.
    """

    dtypes: dict[Buffer, np.dtype] = field(default_factory=dict)
    unset: list[Buffer] = field(default_factory=list)


def local_numbers(steps: Sequence[Step], places: dict[Buffer, Buffer]) -> LocalNumbers:
    """The places that only hold one number of one type at a time, which ``steps`` can compute without an array.

    There are none where control flow is nested so deeply that functions of its own run it.
    """
    if not any(isinstance(step, ControlStep) and step.kind != "if" for step in _all(steps)):
        return LocalNumbers()
    if _depth(steps) > MOST_NESTED:
        return LocalNumbers()
    uses = _Uses(places)
    uses.block(steps, ())
    dtypes = {}
    for place in uses.paths:
        if place in uses.refused:
            continue
        written = uses.written[place]
        if len(written) == 1 and all(_seen_as(next(iter(written)), dtype) for dtype in uses.read[place]):
            (dtypes[place],) = written
    return LocalNumbers(dtypes, [place for place in dtypes if not uses.is_set_first(place)])


def _depth(steps: Iterable[Step]) -> int:
    """The number of loops and branches that stand inside each other."""
    blocks = (block for step in steps if isinstance(step, ControlStep) for block in step.blocks)
    return max((1 + _depth(block) for block in blocks), default=0)


def _all(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        yield step
        if isinstance(step, ControlStep):
            for block in step.blocks:
                yield from _all(block)


def _seen_as(written: np.dtype, read: np.dtype) -> bool:
    """True if a number ``written`` as one type can be read as the other without memory."""
    return written == read or (is_integer(written) and is_integer(read) and written.itemsize == read.itemsize)


@dataclass
class _Uses:
    """The uses of each place."""

    places: dict[Buffer, Buffer]
    refused: set[Buffer] = field(default_factory=set)
    written: dict[Buffer, set[np.dtype]] = field(default_factory=lambda: defaultdict(set))
    read: dict[Buffer, set[np.dtype]] = field(default_factory=lambda: defaultdict(set))
    paths: dict[Buffer, list[tuple[bool, tuple[int, ...]]]] = field(default_factory=lambda: defaultdict(list))

    def is_set_first(self, place: Buffer) -> bool:
        """True if the first use writes, in a block that all other uses are in as well."""
        (writes, path), *others = self.paths[place]
        return writes and all(other[: len(path)] == path for _, other in others)

    def block(self, steps: Sequence[Step], path: tuple[int, ...]) -> None:
        for step in steps:
            match step:
                case Call():
                    self._call(step, path)
                case ControlStep():
                    self._control(step, path)
                case _:
                    self.refused.update(self._place(view) for view in views_of(step))

    def _control(self, step: ControlStep, path: tuple[int, ...]) -> None:
        scalars = [scalar for scalar in step.scalars if isinstance(scalar, View)]
        if step.kind != "while":
            for scalar in scalars:
                self._note(scalar, False, path)
        if step.variable is not None:
            self._note(step.variable, True, (*path, step.ids[0]))
        # the first block of a while runs in any case, and the others after it
        prefixes = [(*path, number) for number in step.ids]
        if step.kind == "while":
            prefixes = [path, (*path, step.ids[1]), path]
        for position, (prefix, block) in enumerate(zip(prefixes, step.blocks, strict=True)):
            self.block(block, prefix)
            if step.kind == "while" and position == 0:
                for scalar in scalars:
                    self._note(scalar, False, path)

    def _call(self, call: Call, path: tuple[int, ...]) -> None:
        alone = is_number_call(call)
        for position, operand in enumerate(call.operands):
            if isinstance(operand, View):
                self._note(operand, False, path)
                if not alone and not takes_numbers(call, position):
                    self.refused.add(self._place(operand))
        if called_function(call) == "require":
            return
        self._note(call.out, True, path)
        if not alone:
            self.refused.add(self._place(call.out))

    def _note(self, view: View, writes: bool, path: tuple[int, ...]) -> None:
        place = self._place(view)
        if view.shape or view.offset or view.buffer.elements != 1 or view.buffer.role is not Role.TEMPORARY:
            self.refused.add(place)
            return
        (self.written if writes else self.read)[place].add(view.dtype)
        self.paths[place].append((writes, path))

    def _place(self, view: View) -> Buffer:
        return self.places.get(view.buffer, view.buffer)
