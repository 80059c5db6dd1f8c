"""Names for what calls work on: views of arguments, results, planned memory and constants, each bound once."""

from dataclasses import dataclass, field

import numpy as np

from ipu_mlir.runtime.translator.codegen.memory_plan import MemoryPlan
from ipu_mlir.runtime.translator.codegen.names import Names, scalar_name, scalar_text
from ipu_mlir.runtime.translator.codegen.schedule import Operand, View
from ipu_mlir.runtime.translator.statements.access import Buffer, Role, is_contiguous, row_major
from ipu_mlir.runtime.translator.statements.expression import Const, LoopNumber
from ipu_mlir.runtime.translator.statements.statements import Program


@dataclass
class Scope:
    """Where names are bound: the lines of set-up, and the name of each view."""

    indent: str
    lines: list[str] = field(default_factory=list)
    views: dict[object, str] = field(default_factory=dict)


@dataclass
class OperandTexts:
    """The text of every operand of a program, and the lines that bind names.

    Attributes:
        plan: where temporaries lie.
        setup: of the program, in front of ``main``; ``body``: of ``main``.
        prologue: lines of ``main`` in front of the body, for what a loop or a branch needs (``is_inside``).
        constants: the arrays that the source asks ``memory`` for.
        numbers: the variables of loops, by the buffers that hold them too.
    """

    program: Program
    places: dict[Buffer, Buffer]
    plan: MemoryPlan
    names: Names
    setup: Scope = field(default_factory=lambda: Scope("    "))
    body: Scope = field(default_factory=lambda: Scope("        "))
    prologue: Scope = field(default_factory=lambda: Scope("        "))
    is_inside: bool = False
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[Buffer, str] = field(default_factory=dict)
    _buffer_names: dict[Buffer, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.results = {access.buffer: i for i, access in enumerate(self.program.results)}
        self.arguments = {b: self.names.fresh(b.name) for b in self.program.arguments}
        self.result_names = {b: self.names.fresh(f"result{i}") for b, i in self.results.items()}
        self.result_of_place = {self.place(b): b for b in self.results}

    def scratch_view(self, view: View, offset: int, scope: Scope) -> str:
        key = (view.dtype, offset, view.offset, view.shape, view.strides)
        if key not in scope.views:
            scope.views[key] = self._bound(view, "scratch.temporary", offset, scope)
        return scope.views[key]

    def place(self, buffer: Buffer) -> Buffer:
        return self.places.get(buffer, buffer)

    def per_run(self, view: View) -> bool:
        """True if the array exists only during a run."""
        return view.buffer.role in (Role.ARGUMENT, Role.STATE) or self.place(view.buffer) in self.result_of_place

    def text(self, operand: Operand, scope: Scope) -> str:
        if isinstance(operand, Const):
            return self._scalar(operand)
        if isinstance(operand, LoopNumber):
            name = self.numbers[operand.buffer]
            return f"{name} {'+' if operand.offset > 0 else '-'} {abs(operand.offset)}" if operand.offset else name
        if operand in scope.views:
            return scope.views[operand]
        if operand.buffer.role is Role.CONSTANT:
            return self._constant(operand)
        if not self.per_run(operand):
            offset = self.plan.offsets[self.place(operand.buffer)]
            key = (operand.dtype, offset, operand.offset, operand.shape, operand.strides)
            if key not in self.setup.views:
                self.setup.views[key] = self._bound(operand, "memory.temporary", offset, self.setup)
            return self.setup.views[key]
        if operand.buffer.role in (Role.ARGUMENT, Role.STATE):
            return self._derived(operand, self.arguments[operand.buffer], operand.buffer.shape, operand.buffer.dtype)
        result = self.result_of_place[self.place(operand.buffer)]
        shape = self.program.result_shapes[self.results[result]]
        return self._derived(operand, self.result_names[result], shape, result.dtype)

    def _bound(self, view: View, function: str, offset: int, scope: Scope) -> str:
        """Bind an array of planned memory."""
        name = self.names.fresh(
            view.buffer.name if view.shape == view.buffer.shape else f"{view.buffer.name}{_shape_suffix(view)}"
        )
        place = offset + view.offset * view.dtype.itemsize
        strides = "" if is_contiguous(view.shape, view.strides) else f", {_tuple(view.strides)}"
        scope.lines.append(
            f"{scope.indent}{name} = {function}({place}, '{view.dtype.str[1:]}', {_tuple(view.shape)}{strides})"
        )
        return name

    def _derived(self, view: View, base: str, shape: tuple[int, ...], dtype: np.dtype) -> str:
        """A view of an array that is handed in: the array itself if it has this very form."""
        key = (base, view.dtype, view.offset, view.shape, view.strides)
        if key in self.body.views:
            return self.body.views[key]
        array = base if view.dtype == dtype else f"{base}.view('{view.dtype.str[1:]}')"
        text = _view_text(view, array, shape)
        if text != base:
            name = self.names.fresh(f"{base}{_shape_suffix(view)}")
            where = self.prologue if self.is_inside else self.body  # a loop may never reach the line, or often
            where.lines.append(f"{where.indent}{name} = {text}")
            text = name
        self.body.views[key] = text
        return text

    def _constant(self, view: View) -> str:
        key = (view.buffer, view.dtype, view.offset, view.shape, view.strides)
        if key in self.setup.views:
            return self.setup.views[key]
        value = view.buffer.value
        assert value is not None, f"constant {view.buffer.name} has no value"
        stored = self._buffer_names.get(view.buffer)
        if stored is None:
            stored = next((n for n, v in self.constants.items() if v is value), None) or view.buffer.name
            while stored in self.constants and self.constants[stored] is not value:
                stored += "_"
            self._buffer_names[view.buffer] = stored
            self.constants[stored] = value
        name = self.names.fresh(stored if view.shape == view.buffer.shape else f"{stored}{_shape_suffix(view)}")
        array = f"memory.constant({stored!r})" + ("" if view.dtype == value.dtype else f".view('{view.dtype.str[1:]}')")
        text = _view_text(view, array, (value.size,))
        self.setup.lines.append(f"{self.setup.indent}{name} = {text}")
        self.setup.views[key] = name
        return name

    def _scalar(self, const: Const) -> str:
        key = ("scalar", const.dtype, const.value.tobytes())
        if key not in self.setup.views:
            name = self.names.fresh(scalar_name(const.value))
            text = f"memory.scalar({scalar_text(const.value)}, '{const.dtype.str[1:]}')"
            self.setup.lines.append(f"{self.setup.indent}{name} = {text}")
            self.setup.views[key] = name
        return self.setup.views[key]


def _view_text(view: View, array: str, shape: tuple[int, ...]) -> str:
    """The text that takes ``view`` from a contiguous ``array`` of ``shape``."""
    elements = int(np.prod(shape))
    if view.offset == 0 and view.elements == elements and is_contiguous(view.shape, view.strides):
        return array if view.shape == shape else f"{array}.reshape({_tuple(view.shape)})"
    if view.offset == 0 and view.shape == shape[::-1] and len(shape) == 2 and view.strides == row_major(shape)[::-1]:
        return f"{array}.T"
    return f"strided({array}, {view.offset}, {_tuple(view.shape)}, {_tuple(view.strides)})"


def _shape_suffix(view: View) -> str:
    """``_32x784``; a matrix that lies transposed gets a ``t``."""
    turned = len(view.strides) > 1 and view.strides[-1] > view.strides[-2] > 0
    return f"_{'x'.join(map(str, view.shape))}{'t' if turned else ''}" if view.shape else "_scalar"


def _tuple(numbers: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, numbers))}{',' if len(numbers) == 1 else ''})"
