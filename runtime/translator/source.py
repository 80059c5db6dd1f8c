"""Generated source: what is bound once, and what every run does."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.translator.access import Buffer, Role
from ipu_mlir.runtime.translator.expression import Const, LoopNumber
from ipu_mlir.runtime.translator.memory_plan import MemoryPlan, plan
from ipu_mlir.runtime.translator.names import Names, scalar_name, scalar_text
from ipu_mlir.runtime.translator.results import is_contiguous, row_major
from ipu_mlir.runtime.translator.schedule import BlockLoop, Call, ControlStep, Loop, Operand, Step, View
from ipu_mlir.runtime.translator.statements import Origin, Program


@dataclass
class Scope:
    """Where names are bound: the lines of set-up, and the name of each view."""

    indent: str
    lines: list[str] = field(default_factory=list)
    views: dict[object, str] = field(default_factory=dict)


@dataclass
class SourceWriter:
    """Writes the source of one program."""

    program: Program
    places: dict[Buffer, Buffer]
    steps: list[Step]
    names: Names = field(default_factory=Names)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    setup: Scope = field(default_factory=lambda: Scope("    "))
    body: Scope = field(default_factory=lambda: Scope("        "))
    prologue: Scope = field(default_factory=lambda: Scope("        "))
    buffer_names: dict[Buffer, str] = field(default_factory=dict)
    depth: int = 0
    numbers: dict[Buffer, str] = field(default_factory=dict)

    def write(self) -> str:
        """The whole source; ``constants`` are then the arrays that it asks ``memory`` for."""
        self.results = {access.buffer: i for i, access in enumerate(self.program.results)}
        held = {self._place(buffer) for buffer in self.results}
        self.plan = plan(self.steps, self.places, held)
        self.arguments = {b: self.names.fresh(b.name) for b in self.program.arguments}
        self.result_names = {b: self.names.fresh(f"result{i}") for b, i in self.results.items()}
        self.result_of_place = {self._place(b): b for b in self.results}
        self._steps(self.steps)
        return self._assembled()

    def _steps(self, steps: Sequence[Step]) -> None:
        """The lines of ``steps``, with a comment wherever another op begins."""
        last_origin: Origin | None = None
        for step in steps:
            if step.origin != last_origin:
                self.body.lines.append(self.body.indent + comment(step.origin))
                last_origin = step.origin
            self._step(step)

    # -- text of the parts

    def _assembled(self) -> str:
        count, results = len(self.arguments), len(self.results)
        own = sorted(name for name in self.functions if numeric.is_own(name))
        of_numpy = sorted(self.functions - set(own))
        parameters = ", ".join([*self.arguments.values(), *self.result_names.values()])
        lines = [
            f'"""@{self.program.name} as NumPy calls: {count} arguments, {results} results, '
            f"{self.plan.total_bytes:,} bytes of temporaries.",
            "",
            "The last array of a call is the one that it writes.",
            '"""',
            "",
            *([f"from numpy import {', '.join(of_numpy)}"] if of_numpy else []),
            "from numpy import inf, nan",
            "",
            *([f"from ipu_mlir.runtime.numeric import {', '.join(own)}"] if own else []),
            "from ipu_mlir.runtime.engine.memory import strided",
            "",
            "",
            "def build(memory):",
            '    """The program with memory of its own: run it in one thread at a time."""',
            *self.setup.lines,
            "",
            f"    def main({parameters}):",
            *self.prologue.lines,
            *(self.body.lines or ["        pass"]),
            "",
            "    return main",
            "",
        ]
        if "strided(" not in "\n".join((*self.setup.lines, *self.prologue.lines, *self.body.lines)):
            lines.remove("from ipu_mlir.runtime.engine.memory import strided")
        text = "\n".join(lines)
        if not re.search(r"\b(inf|nan)\b", text.split("def build", 1)[1]):
            text = text.replace("from numpy import inf, nan\n", "")
        return re.sub(r"\n{4,}", "\n\n\n", text)

    def _step(self, step: Step) -> None:
        match step:
            case Call():
                self.body.lines.append(self.body.indent + self._call(step, self.body))
            case Loop():
                self._loop(step)
            case BlockLoop():
                self._block_loop(step)
            case ControlStep():
                self._control(step)

    def _control(self, step: ControlStep) -> None:
        """A loop or a branch of the program. What it needs of arguments and results is bound before it begins."""
        scalars = [str(s) if isinstance(s, int) else self._operand(s, self.body) for s in step.scalars]
        if step.kind == "for":
            variable = self.names.fresh("i")
            bounds = [s if s.lstrip("-").isdigit() else f"int({s})" for s in scalars]
            shown = bounds[1:2] if bounds[0] == "0" and bounds[2] == "1" else bounds[: 2 + (bounds[2] != "1")]
            self._line(f"for {variable} in range({', '.join(shown)}):")
            if step.number is not None:
                self.numbers[step.number] = variable
            first = [] if step.variable is None else [f"{self._operand(step.variable, self.body)}[()] = {variable}"]
            self._indented(step.blocks[0], first)
        elif step.kind == "while":
            self._line("while True:")
            with self._deeper():
                self._steps(step.blocks[0])
                self._line(f"if not {scalars[0]}:")
                self._line("    break")
            self._indented(step.blocks[1], [])
            self._steps(step.blocks[2])
        elif step.blocks[0] or step.blocks[1]:
            empty = not step.blocks[0]
            self._line(f"if {'not ' if empty else ''}{scalars[0]}:")
            self._indented(step.blocks[1 if empty else 0], [])
            if step.blocks[1] and not empty:
                self._line("else:")
                self._indented(step.blocks[1], [])

    def _line(self, text: str) -> None:
        self.body.lines.append(self.body.indent + text)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Lines one level further in."""
        indent, self.depth = self.body.indent, self.depth + 1
        self.body.indent += "    "
        try:
            yield
        finally:
            self.body.indent, self.depth = indent, self.depth - 1

    def _indented(self, steps: Sequence[Step], first: list[str]) -> None:
        """A block of Python; an empty one has to say so."""
        with self._deeper():
            before = len(self.body.lines)
            for line in first:
                self._line(line)
            self._steps(steps)
            if len(self.body.lines) == before:
                self._line("pass")

    def _call(self, call: Call, scope: Scope) -> str:
        function = re.match(r"\w+", call.template)  # a method has its array first
        if function is not None:
            self.functions.add(function[0])
        operands = [self._operand(operand, scope) for operand in call.operands]
        return call.template.format(*operands, out=self._operand(call.out, scope))

    def _loop(self, loop: Loop) -> None:
        """Nested Python loops; arrays that move with them are indexed first."""
        indent = self.body.indent
        variables = [self.names.fresh(f"i{position}") for position in range(len(loop.counts))]
        operands = [operand for call in loop.calls for operand in call.operands if isinstance(operand, View)]
        moving = {view: self._operand(view, self.body) for view in operands if view.indexed}
        heads: list[str] = []
        for variable, count in zip(variables, loop.counts, strict=True):
            heads.append(f"{indent}for {variable} in range({count}):")
            indent += "    "
        inner = Scope(indent)
        for view, name in moving.items():
            inner.views[view] = self.names.fresh(f"{name}_i")
            inner.lines.append(f"{indent}{inner.views[view]} = {name}[{', '.join(variables)}, ...]")
        for call in loop.calls:
            inner.lines.append(indent + self._call(call, inner))
        self.body.lines += heads + inner.lines  # views of what stands still are made before the loops

    def _block_loop(self, loop: BlockLoop) -> None:
        """A function for one block, one copy of it per thread, and the call that runs all blocks."""
        function = self.names.fresh("block")
        scratch = plan(list(loop.calls), self.places, self._not_scratch(loop), dict(loop.scratch))
        inner = Scope("            ")
        own_setup = Scope("        ")
        parameters: dict[str, None] = {}
        for call in loop.calls:
            for operand in (*call.operands, call.out):
                if isinstance(operand, View) and operand not in inner.views:
                    self._bind_in_block(operand, loop, scratch, own_setup, inner, parameters)
                elif isinstance(operand, LoopNumber):
                    parameters[self.numbers[operand.buffer]] = None
        lines = [self._call(call, inner) for call in loop.calls]
        per_run = ", ".join(parameters)
        head = f"{function}(scratch)"
        self.setup.lines += [
            "",
            f"    def {head}:",
            *own_setup.lines,
            f"        def run({', '.join(['lo', 'hi', *parameters])}):",
            *inner.lines,
            *self._with_comments(loop, lines, inner.indent),
            "",
            "        return run",
            "",
            f"    {function}s = memory.per_thread({function}, {scratch.total_bytes})",
        ]
        arguments = ", ".join([f"{function}s", str(loop.units), str(loop.block), *([per_run] if per_run else [])])
        self.body.lines.append(f"{self.body.indent}memory.run_blocks({arguments})")

    def _with_comments(self, loop: BlockLoop, lines: list[str], indent: str) -> Iterable[str]:
        last: Origin | None = None
        for call, line in zip(loop.calls, lines, strict=True):
            if call.origin != last:
                yield indent + comment(call.origin)
                last = call.origin
            yield indent + line

    def _not_scratch(self, loop: BlockLoop) -> set[Buffer]:
        scratch = {place for place, _ in loop.scratch}
        places = {
            self._place(view.buffer)
            for call in loop.calls
            for view in (*call.operands, call.out)
            if isinstance(view, View)
        }
        return places - scratch

    def _bind_in_block(
        self, view: View, loop: BlockLoop, scratch: MemoryPlan, own: Scope, inner: Scope, parameters: dict[str, None]
    ) -> None:
        """Name ``view`` inside a block: a slice of the whole where it moves with the block."""
        place = self._place(view.buffer)
        if view.buffer.role is Role.TEMPORARY and place in scratch.offsets:
            whole = self._scratch_view(view, scratch.offsets[place], own)
        else:
            whole = self._operand(view, self.body)
            if self._per_run(view):
                parameters[whole] = None
        in_scratch = view.buffer.role is Role.TEMPORARY and place in scratch.offsets
        if view.block_axis is None or (in_scratch and loop.units % loop.block == 0):
            inner.views[view] = whole
            return
        step = view.block_step
        ends = ("lo", "hi") if step == 1 else (f"lo * {step}", f"hi * {step}")
        if in_scratch:
            ends = ("", "hi - lo" if step == 1 else f"(hi - lo) * {step}")
        index = ":, " * view.block_axis + f"{ends[0]}:{ends[1]}"
        text = f"{whole}[{index}]"
        if text not in inner.views:
            inner.views[text] = self.names.fresh(f"{whole}_b")
            inner.lines.append(f"{inner.indent}{inner.views[text]} = {text}")
        inner.views[view] = inner.views[text]

    def _scratch_view(self, view: View, offset: int, scope: Scope) -> str:
        key = (view.dtype, offset, view.offset, view.shape, view.strides)
        if key not in scope.views:
            scope.views[key] = self._bound(view, "scratch.temporary", offset, scope)
        return scope.views[key]

    # -- operands

    def _place(self, buffer: Buffer) -> Buffer:
        return self.places.get(buffer, buffer)

    def _per_run(self, view: View) -> bool:
        """True if the array exists only during a run."""
        return view.buffer.role is Role.ARGUMENT or self._place(view.buffer) in self.result_of_place

    def _operand(self, operand: Operand, scope: Scope) -> str:
        if isinstance(operand, Const):
            return self._scalar(operand)
        if isinstance(operand, LoopNumber):
            name = self.numbers[operand.buffer]
            return f"{name} {'+' if operand.offset > 0 else '-'} {abs(operand.offset)}" if operand.offset else name
        if operand in scope.views:
            return scope.views[operand]
        if operand.buffer.role is Role.CONSTANT:
            return self._constant(operand)
        if not self._per_run(operand):
            offset = self.plan.offsets[self._place(operand.buffer)]
            key = (operand.dtype, offset, operand.offset, operand.shape, operand.strides)
            if key not in self.setup.views:
                self.setup.views[key] = self._bound(operand, "memory.temporary", offset, self.setup)
            return self.setup.views[key]
        if operand.buffer.role is Role.ARGUMENT:
            return self._derived(operand, self.arguments[operand.buffer], operand.buffer.shape, operand.buffer.dtype)
        result = self.result_of_place[self._place(operand.buffer)]
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
            where = self.prologue if self.depth else self.body  # a loop may never reach the line, or often
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
        stored = self.buffer_names.get(view.buffer)
        if stored is None:
            stored = next((n for n, v in self.constants.items() if v is value), None) or view.buffer.name
            while stored in self.constants and self.constants[stored] is not value:
                stored += "_"
            self.buffer_names[view.buffer] = stored
            self.constants[stored] = value
        name = self.names.fresh(stored if view.shape == view.buffer.shape else f"{stored}{_shape_suffix(view)}")
        array = f"memory.constant('{stored}')" + ("" if view.dtype == value.dtype else f".view('{view.dtype.str[1:]}')")
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


def comment(origin: Origin) -> str:
    """The op and its place as a comment."""
    return f"# {origin.op}{f' at {origin.location}' if origin.location else ''}"


def _view_text(view: View, array: str, shape: tuple[int, ...]) -> str:
    """How to get ``view`` from a contiguous ``array`` of ``shape``."""
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
