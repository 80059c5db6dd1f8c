"""Generated source: what is bound once, and what every run does."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.text import in_docstring
from ipu_mlir.runtime.translator.codegen.block_source import block_loop
from ipu_mlir.runtime.translator.codegen.memory_plan import plan
from ipu_mlir.runtime.translator.codegen.module_source import comment, module_source
from ipu_mlir.runtime.translator.codegen.names import Names
from ipu_mlir.runtime.translator.codegen.operand_texts import OperandTexts, Scope
from ipu_mlir.runtime.translator.codegen.schedule import (
    MOST_NESTED,
    BlockLoop,
    Call,
    ControlStep,
    Loop,
    Schedule,
    Step,
    View,
)
from ipu_mlir.runtime.translator.statements.access import Buffer
from ipu_mlir.runtime.translator.statements.control import all_statements, transfers_by
from ipu_mlir.runtime.translator.statements.statements import FunctionCall, Origin, Program


@dataclass
class SourceWriter:
    """Writes the source of a program, or of a function that it calls.

    Attributes:
        name: of the function in the source.
        shared: the writer of the program, for a function: set-up, constants, names and imports are one for all.
        called: the writers of all functions, by their names in the program.
        first_byte: where its temporaries begin, beyond those of all that call it.
    """

    program: Program
    places: dict[Buffer, Buffer]
    steps: list[Step]
    name: str = "main"
    shared: "SourceWriter | None" = None
    called: dict[str, "SourceWriter"] = field(default_factory=dict)
    first_byte: int = 0
    names: Names = field(default_factory=Names)
    functions: set[str] = field(default_factory=set)
    _nested: int = 0
    _variables: list[str] = field(default_factory=list)
    """Of the loops around."""
    _inner_functions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        held = {self.places.get(access.buffer, access.buffer) for access in self.program.results}
        self.plan = plan(self.steps, self.places, held, first_byte=self.first_byte)
        self.texts = OperandTexts(self.program, self.places, self.plan, self.names)
        if self.shared is not None:
            self.texts.setup, self.texts.constants = self.shared.setup, self.shared.texts.constants
        self.setup, self.body = self.texts.setup, self.texts.body

    @staticmethod
    def of(program: Program, schedules: Sequence[Schedule]) -> "SourceWriter":
        """The writer of ``program`` and its functions, of which these are the calls."""
        first, *others = schedules
        main = SourceWriter(program, first.places, first.steps)
        for function, schedule in reversed(list(zip(program.functions, others, strict=True))):  # callers first
            callers = [main, *main.called.values()]
            ends = [each.plan.total_bytes for each in callers if function.name in _called_by(each.program)]
            name, end = main.names.fresh(function.name), max(ends, default=0)
            main.called[function.name] = SourceWriter(
                function, schedule.places, schedule.steps, name, main, main.called, end, main.names, main.functions
            )
        return main

    @property
    def temporary_bytes(self) -> int:
        """Of the program and its functions."""
        return max(each.plan.total_bytes for each in (self, *self.called.values()))

    def write(self) -> str:
        """The whole source; the constants in ``texts`` are then the arrays that it asks ``memory`` for."""
        functions = [line for each in reversed(self.called.values()) for line in (*each._function(), "")]
        taken, given = counted(len(self.texts.arguments), "argument"), counted(len(self.texts.results), "result")
        heading = (
            f"@{in_docstring(self.program.name)} as NumPy calls: {taken}, {given}, "
            f"{self.temporary_bytes:,} bytes of temporaries."
        )
        return module_source(heading, self.functions, self.setup.lines, [*functions, *self._function()])

    @cached_property
    def _host(self) -> list[str]:
        """The parts of the host that a run, or a call, gets."""
        inside = {who for name in _called_by(self.program) for who in self.called[name]._host}
        return [who for who in ("streams", "remote") if who in inside or transfers_by(self.program, who)]

    def _function(self) -> list[str]:
        """The lines of the function of this program alone."""
        self._steps(self.steps)
        parameters = [*self.texts.arguments.values(), *self._host, *self.texts.result_names.values()]
        return [
            f"    def {self.name}({', '.join(parameters)}):",
            *self.texts.prologue.lines,
            *self._inner_functions,
            *(self.body.lines or ["        pass"]),
        ]

    def _steps(self, steps: Sequence[Step]) -> None:
        """The lines of ``steps``, with a comment wherever another op begins."""
        last_origin: Origin | None = None
        for step in steps:
            if step.origin != last_origin:
                self.body.lines.append(self.body.indent + comment(step.origin))
                last_origin = step.origin
            self._step(step)

    def _step(self, step: Step) -> None:
        match step:
            case Call():
                self.body.lines.append(self.body.indent + self._call(step, self.body))
            case Loop():
                self._loop(step)
            case BlockLoop():
                self._line(block_loop(step, self.texts, self._call))
            case ControlStep() if self._nested == MOST_NESTED:
                self._own_function(step)
            case ControlStep():
                self._control(step)

    def _own_function(self, step: ControlStep) -> None:
        """A loop or a branch that stands deep inside others, as a function that they call."""
        head = f"{self.names.fresh('nested')}({', '.join(self._variables)})"
        self._line(head)
        around = self.body.lines, self.body.indent, self._nested
        self.body.lines, self.body.indent, self._nested = [], "            ", 0
        self._control(step)
        self._inner_functions += ["", f"        def {head}:", *self.body.lines, ""]
        self.body.lines, self.body.indent, self._nested = around

    def _control(self, step: ControlStep) -> None:
        """A loop or a branch of the program. What it needs of arguments and results is bound before it begins."""
        scalars = [str(s) if isinstance(s, int) else self.texts.text(s, self.body) for s in step.scalars]
        if step.kind == "for":
            variable = self.names.fresh("i")
            bounds = [s if s.lstrip("-").isdigit() else f"int({s})" for s in scalars]
            shown = bounds[1:2] if bounds[0] == "0" and bounds[2] == "1" else bounds[: 2 + (bounds[2] != "1")]
            self._line(f"for {variable} in range({', '.join(shown)}):")
            if step.number is not None:
                self.texts.numbers[step.number] = variable
            self._variables.append(variable)
            self._indented(step.blocks[0], self._noted(step.variable, variable))
            self._variables.pop()
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

    def _noted(self, held: View | None, variable: str) -> list[str]:
        """The line that puts the number of the iteration where calls read it."""
        return [] if held is None else [f"{self.texts.text(held, self.body)}[()] = {variable}"]

    def _line(self, text: str) -> None:
        self.body.lines.append(self.body.indent + text)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        """Lines one level further in."""
        indent, was_inside = self.body.indent, self.texts.is_inside
        self.body.indent, self.texts.is_inside = indent + "    ", True
        self._nested += 1
        try:
            yield
        finally:
            self._nested -= 1
            self.body.indent, self.texts.is_inside = indent, was_inside

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
        if call.kernel:
            operands = [self.texts.text(operand, scope) for operand in call.operands]
            return call.template.format(*operands, kernel=self._kernel(call.kernel))
        if call.function:
            function = self.called[call.function]
            operands = [self.texts.text(operand, scope) for operand in call.operands]
            host = "".join(f"{who}, " for who in function._host)
            return call.template.format(*operands, function=function.name, host=host).replace(", )", ")")
        function = re.match(r"(?!if )\w+", call.template)  # a method has its array first
        if function is not None and function[0] not in ("streams", "remote"):
            self.functions.add(function[0])
        operands = [self.texts.text(operand, scope) for operand in call.operands]
        out = self.texts.text(call.out, scope) if "{out}" in call.template else ""
        return call.template.format(*operands, out=out)

    def _kernel(self, name: str) -> str:
        """The name here of the function of machine code ``name``."""
        key = ("kernel", name)
        if key not in self.setup.views:
            self.setup.views[key] = self.names.fresh(name)
            self.setup.lines.append(f"{self.setup.indent}{self.setup.views[key]} = memory.kernel({name!r})")
        return self.setup.views[key]

    def _loop(self, loop: Loop) -> None:
        """Nested Python loops; arrays that move with them are indexed first."""
        indent = self.body.indent
        variables = [self.names.fresh(f"i{position}") for position in range(len(loop.counts))]
        operands = [operand for call in loop.calls for operand in call.operands if isinstance(operand, View)]
        moving = {view: self.texts.text(view, self.body) for view in operands if view.indexed}
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
        self.body.lines += heads + inner.lines  # loop-invariant views are made before the loops


def _called_by(program: Program) -> set[str]:
    """The names of the functions that ``program`` itself calls."""
    return {each.function for each in all_statements(program.statements) if isinstance(each, FunctionCall)}
