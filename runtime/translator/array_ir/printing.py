"""Array programs as text: what ``ipu-translate --print-after-all`` shows and ``array_ir.parsing`` reads back, exactly.

    program @main(%x, %b) -> (%y[256*d0 + d1] : 128x256) {
      argument %x : float32[128x256]
      argument %b : float32[256]
      temporary %y : float32[128x256]
      elementwise 128x256 {  // linalg.generic at add.mlir:4:8
        store maximum(add(%x[256*d0 + d1], %b[d1]), float32(0.0)), %y[256*d0 + d1]
      }
    }

``d0``, ``d1``, ... are the loops of a statement, outermost first; its first line has the extents. A value that is used
several times, or is long, has a line of its own (``%0 = ...``). The type of a value is written where it is not that of
its first operand. A buffer belongs to the outermost block unless it says to which (``in #0.#2``); one that is
``floating`` belongs to the blocks that use it. The functions that a program calls (``call @f``) come after it.
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.array_ir.control import Block, Bound, Branch, Control, ForLoop, WhileLoop
from ipu_mlir.runtime.translator.array_ir.expression import LoopNumber, postorder
from ipu_mlir.runtime.translator.array_ir.statements import (
    Check,
    Dot,
    Elementwise,
    FirstExtreme,
    Fold,
    FunctionCall,
    LibraryCall,
    Origin,
    Program,
    Reduce,
    Scan,
    SliceUpdate,
    Statement,
    Transfer,
    expressions_of,
)
from ipu_mlir.runtime.translator.array_ir.value_printing import ValueTexts, access_text, scalar_text, shape_text

_SHORT = 16
"""Elements of a constant that are printed as numbers; longer ones are printed as bytes."""


def program_text(program: Program, elide_above: int | None = None) -> str:
    """``program`` as text, with a line break at the end.

    Constants of more than ``elide_above`` elements are printed as ``...``, which cannot be read back; None: none are.
    """
    parts = (program, *program.functions)
    return "\n".join(line for part in parts for line in _Printer(elide_above).program(part)) + "\n"


def _all_buffers(program: Program) -> Iterator[Buffer]:
    yield from program.arguments
    yield from _buffers_in(program.statements)
    yield from (access.buffer for access in program.results)


def _buffers_in(statements: Sequence[Statement]) -> Iterator[Buffer]:
    for statement in statements:
        if isinstance(statement, Control):
            yield from (access.buffer for access in statement.read_directly())
            if isinstance(statement, ForLoop) and statement.variable is not None:
                yield statement.variable.buffer
            for block in statement.blocks():
                yield from _buffers_in(block)
        else:
            yield from (access.buffer for access in (*statement.sources(), *statement.dests()))
            roots = expressions_of(statement)
            yield from (node.buffer for node in postorder(roots) if isinstance(node, LoopNumber))


@dataclass
class _Printer:
    elide_above: int | None
    names: dict[Buffer, str] = field(default_factory=dict)

    def program(self, program: Program) -> Iterator[str]:
        buffers = list(dict.fromkeys(_all_buffers(program)))
        taken: set[str] = set()
        for buffer in buffers:
            wish = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in buffer.name) or "_"
            wish = f"_{wish}" if wish.isdigit() else wish  # %0, %1, ... are values
            name = next(n for n in _tries(wish) if n not in taken)
            taken.add(name)
            self.names[buffer] = f"%{name}"
        arguments = ", ".join(self.names[b] for b in program.arguments)
        results = ", ".join(
            f"{self.access(access)} : {shape_text(shape)}"
            for access, shape in zip(program.results, program.result_shapes, strict=True)
        )
        kind = "function" if program.is_called else "program"
        yield f"{kind} @{_quoted(program.name)}({arguments}) -> ({results}) {{"
        for buffer in buffers:
            yield f"  {self.declaration(buffer)}"
        yield from self.block(program.statements, "  ")
        yield "}"

    def declaration(self, buffer: Buffer) -> str:
        text = f"{buffer.role.value} {self.names[buffer]} : {buffer.dtype}[{shape_text(buffer.shape)}]"
        if buffer.elements != prod(buffer.shape):
            text += f" elements {buffer.elements}"
        if buffer.narrow:
            text += f" narrow {buffer.narrow}"
        if buffer.home is None:
            text += " floating"
        elif buffer.home:
            text += " in " + ".".join(f"#{number}" for number in buffer.home)
        if buffer.bounds is not None:
            text += " bounds [{}, {}]".format(*buffer.bounds)
        if buffer.counts:
            text += " counts"
        if buffer.mutable:
            text += " mutable"
        return (
            text
            if buffer.role is not Role.CONSTANT or buffer.value is None
            else f"{text} = {self.values(buffer.value)}"
        )

    def values(self, value: np.ndarray) -> str:
        if self.elide_above is not None and value.size > self.elide_above:
            return "..."
        if value.size <= _SHORT:
            return f"[{', '.join(map(scalar_text, value))}]"
        return f'bytes "{base64.b64encode(value.tobytes()).decode()}"'

    def block(self, statements: Sequence[Statement], indent: str) -> Iterator[str]:
        for statement in statements:
            yield from self.statement(statement, indent)

    def statement(self, statement: Statement, indent: str) -> Iterator[str]:
        if isinstance(statement, Control):
            yield from self.control(statement, indent)
            return
        loops = shape_text(statement.extents)
        comment = _comment(statement.origin)
        over = ""
        if isinstance(statement, Fold | Reduce | Scan):
            over = " over " + ", ".join(f"d{loop}" for loop, reduced in enumerate(statement.reduced) if reduced)
        match statement:
            case Dot():
                a, b, out = map(self.access, (statement.a, statement.b, statement.out))
                yield f"{indent}dot {loops} {a}, {b}, {out}{comment}"
                return
            case Reduce():
                kind = "first_extreme" if isinstance(statement, FirstExtreme) else "reduce"
                sign = " unsigned" if statement.unsigned else ""
                both = f"{self.access(statement.source)}, {self.access(statement.out)}"
                yield f"{indent}{kind} {statement.call}{sign} {loops}{over} {both}{comment}"
                return
            case LibraryCall():
                inputs, outputs = len(statement.inputs), len(statement.outputs)
                texts = [
                    f"{self.access(access)} : {shape_text(shape)}"
                    for access, shape in zip((*statement.inputs, *statement.outputs), statement.shapes, strict=True)
                ]
                for i, updated in enumerate(statement.updated):
                    texts[inputs + i] += " updated" if updated else ""
                given, got = ", ".join(texts[:inputs]), ", ".join(texts[inputs : inputs + outputs])
                what = f"call {_quoted(statement.codelet)}"
                if isinstance(statement, FunctionCall):
                    what = f"call @{_quoted(statement.function)}"
                if isinstance(statement, Transfer):
                    what = f"{statement.codelet} {statement.index} of {_quoted(statement.queue)}"
                yield f"{indent}{what} ({given}) -> ({got}){comment}"
                return
        kind = {Elementwise: "elementwise", Fold: "fold", Scan: "scan", SliceUpdate: "slice_update", Check: "check"}
        yield f"{indent}{kind[type(statement)]} {loops}{over} {{{comment}"
        values = ValueTexts(self.names, expressions_of(statement))
        yield from (f"{indent}  {line}" for line in values.lines)
        text = values.text
        match statement:
            case Elementwise() | Scan():
                for value, out in zip(statement.values, statement.outputs, strict=True):
                    yield f"{indent}  store {text(value)}, {self.access(out)}"
            case Fold():
                for value, out, init in zip(statement.values, statement.outputs, statement.inits, strict=True):
                    yield f"{indent}  update {text(value)}, {self.access(out)} from {text(init)}"
            case SliceUpdate():
                old, out = self.access(statement.old), self.access(statement.out)
                boxes = zip(statement.loops, statement.indexes, statement.sizes, strict=True)
                where = ", ".join(f"d{loop} from {text(index)} for {size}" for loop, index, size in boxes)
                yield f"{indent}  replace {old} along {where} by {text(statement.value)}, {out}"
            case Check():
                (value,) = statement.values
                yield f"{indent}  require {text(value)}, {_quoted(statement.message, always=True)}"
        yield f"{indent}}}"

    def control(self, control: Control, indent: str) -> Iterator[str]:
        comment = _comment(control.origin)
        blocks: list[tuple[str, Block]] = []
        match control:
            case ForLoop():
                lower, upper, step = map(self.bound, (control.lower, control.upper, control.step))
                variable = "" if control.variable is None else f" {self.access(control.variable)} ="
                sign = " unsigned" if control.unsigned else ""
                blocks = [(f"for{sign}{variable} {lower} to {upper} step {step} ", control.body)]
            case WhileLoop():
                first = f"while {self.access(control.condition)} "
                blocks = [(first, control.before), ("} do ", control.after), ("} leaving ", control.leaving)]
            case Branch():
                blocks = [(f"if {self.access(control.condition)} ", control.yes), ("} else ", control.no)]
        for (head, block), number in zip(blocks, control.ids, strict=True):
            yield f"{indent}{head}#{number} {{{comment}"
            yield from self.block(block, indent + "  ")
            comment = ""
        yield f"{indent}}}"

    def bound(self, bound: Bound) -> str:
        return str(bound) if isinstance(bound, int) else self.access(bound)

    def access(self, access: Access) -> str:
        return access_text(access, self.names)


def _tries(wish: str) -> Iterator[str]:
    yield wish
    number = 1
    while True:
        yield f"{wish}_{number}"
        number += 1


def _quoted(text: str, always: bool = False) -> str:
    plain = text.isascii() and text.replace("_", "a").replace(".", "a").isalnum() and not always
    return text if plain else '"' + text.encode("unicode_escape").decode().replace('"', "\\x22") + '"'


def _comment(origin: Origin) -> str:
    where = f" at {origin.location}" if origin.location else ""
    return f"  // {_quoted_line(origin.op + where)}" if origin.op or where else ""


def _quoted_line(text: str) -> str:
    return text.encode("unicode_escape").decode()
