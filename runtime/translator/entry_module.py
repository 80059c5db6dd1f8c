"""The steps of a program as MLIR: functions on memrefs that call kernels, and NumPy, by declarations of their own."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.codegen.block_source import scratch_plan
from ipu_mlir.runtime.translator.codegen.emit.plan_schedule import scheduled
from ipu_mlir.runtime.translator.codegen.module_source import comment
from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, ControlStep, Loop, Operand, Step, View
from ipu_mlir.runtime.translator.codegen.source import SourceWriter
from ipu_mlir.runtime.translator.importing.walk import children
from ipu_mlir.runtime.translator.kernels.declared import Operand as Uses
from ipu_mlir.runtime.translator.kernels.module import module_text
from ipu_mlir.runtime.translator.statements.access import Buffer, Role, is_contiguous, row_major
from ipu_mlir.runtime.translator.statements.expression import Const, LoopNumber
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import read_statements, with_calls

KERNELS, MEMORY = "kernels", "temporaries"
"""Names of the module that kernels are in, and of the memory that all functions share, unless the program has them."""


@dataclass(frozen=True)
class EntryModule:
    """All that runs of a program: text of MLIR, in which ``functions`` stand for those of the program.

    ``constants`` are the arrays of globals that the text leaves without a value.
    """

    text: str
    functions: tuple[str, ...]
    constants: Mapping[str, np.ndarray]


def entry_module(module: ir.Operation, entry: str, options: TranslatorOptions) -> EntryModule:
    """What ``translate`` makes of function ``entry``: the same kernels, and the calls that its source writes as NumPy.

    Raises:
        CompileError: the function is missing, nested too deeply, or uses ops that the runtime lacks; all are listed.
    """
    program = with_calls(read_statements(module, entry), options)
    schedules, has_one_thread, kernels = scheduled(program, replace(options, checked=True))
    writer = SourceWriter.of(program, schedules)
    uses = {
        each.name: None if each.declared is None else [use_of(operand) for operand in each.declared] for each in kernels
    }
    taken = {ir.StringAttr(op.attributes["sym_name"]).value for op in children(module) if "sym_name" in op.attributes}
    symbols = Symbols(taken, uses, writer.temporary_bytes)
    parts = {entry: writer, **writer.called}
    functions = [FunctionText(each, symbols).text(name, has_one_thread) for name, each in parts.items()]
    held = module_text(kernels).replace("module {", f"module @{symbols.kernels} {{", 1)
    return EntryModule("\n".join([*symbols.lines, *functions, held]), tuple(parts), symbols.constants)


def use_of(operand: Uses) -> str:
    """What a kernel does to one of its arrays, in words; ``""`` for memory of its own work."""
    kinds = {touch.is_write for touch in operand.touches}
    return ", ".join(word for word, kind in (("read", False), ("write", True)) if kind in kinds)


@dataclass
class Symbols:
    """The module around the functions of a program: ``lines`` declare what they refer to by name.

    Attributes:
        taken: all names of the module.
        uses: the uses that each kernel makes of its arrays: ``read``, ``write`` or both, empty for its own work; of
            one that takes arrays of all sizes nothing is known.
        constants: the arrays that globals hold, by name.
    """

    taken: set[str]
    uses: Mapping[str, Sequence[str] | None]
    temporary_bytes: int
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    _declared: dict[tuple[str, ...], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kernels, self.memory = self.fresh(KERNELS), self.fresh(MEMORY)
        if self.temporary_bytes:
            self.lines.append(f'memref.global "private" @{self.memory} : {_memref((self.temporary_bytes,), "i8")}')

    def fresh(self, name: str) -> str:
        """``name``, or one like it that nothing has."""
        found, number = name, 0
        while found in self.taken:
            number += 1
            found = f"{name}_{number}"
        self.taken.add(found)
        return found

    def declaration(self, name: str, attribute: str, types: Sequence[str], uses: Sequence[str] = ()) -> str:
        """The name of the function that has ``attribute`` and takes ``types``; ``uses`` are of the last of them."""
        key = (attribute, *types)
        if key not in self._declared:
            self._declared[key] = self.fresh(name)
            shown = list(types)
            for number, use in enumerate(uses, len(types) - len(uses)):
                shown[number] += f' {{ipu.use = "{use}"}}'
            self.lines.append(
                f"func.func private @{self._declared[key]}({', '.join(shown)}) attributes {{{attribute}}}"
            )
        return self._declared[key]

    def constant(self, buffer: Buffer) -> str:
        """The name of the global that holds a constant; its value is for ``constants`` to say."""
        value = buffer.value
        assert value is not None, f"constant {buffer.name} has no value"
        found = next((name for name, known in self.constants.items() if known is value), None)
        if found is None:
            found = self.fresh(buffer.name)
            self.constants[found] = value
            kind = _memref(value.shape, element_text(value.dtype))
            self.lines.append(f'memref.global "private" constant @{found} : {kind} = uninitialized')
        return found


@dataclass
class FunctionText:
    """Writes one function, once; ``head`` has what is bound in front of ``lines``, which do the work.

    ``types`` are those of all values, ``known`` what views and other operands are called.
    """

    writer: SourceWriter
    symbols: Symbols
    head: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    known: dict[object, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, has_one_thread: bool) -> str:
        """The function, called ``name``: it takes its arguments, and then what it fills. BLAS may have one thread."""
        texts = self.writer.texts
        results = zip(texts.results, texts.program.result_shapes, strict=True)
        for buffer, shape in (*((each, each.shape) for each in texts.arguments), *results):
            self.known[buffer] = self._named("array", _memref(shape, element_text(buffer.dtype)))
        parameters = ", ".join(f"{value}: {kind}" for value, kind in self.types.items())
        self._steps(self.writer.steps)
        regime = " attributes {ipu.blas_threads = 1 : i64}" if has_one_thread else ""
        return "\n".join([f'func.func @"{name}"({parameters}){regime} {{', *self.head, *self.lines, "return", "}"])

    # -- steps

    def _steps(self, steps: Sequence[Step]) -> None:
        for step in steps:
            match step:
                case Call():
                    self._call(step, self._operand)
                case Loop():
                    self._loop(step)
                case BlockLoop():
                    self._blocks(step)
                case ControlStep():
                    self._control(step)

    def _call(self, call: Call, seen: Callable[[View], str], ends: Sequence[str] = ()) -> None:
        """A call on views as they are ``seen`` here; kernels of a block take its ``ends`` as well."""
        operands = [seen(each) if isinstance(each, View) else self._operand(each) for each in call.operands]
        uses: Sequence[str] | None = None
        if call.function:
            name, attribute = call.function, ""
            views = [each for each in call.operands if isinstance(each, View)]
            kinds = [_memref(each.shape, element_text(each.dtype)) for each in views]
            operands = [self._cast(*pair, self.lines) for pair in zip(operands, kinds, strict=True)]
        elif call.kernel:
            operands, uses = [*ends, *operands], self.symbols.uses[call.kernel]
            name, attribute = call.kernel, f"ipu.kernel = @{self.symbols.kernels}::@{call.kernel}"
        else:
            source = call.template
            if "{out}" in source:
                out = seen(call.out)
                operands += [] if out in operands else [out]
                source = source.replace("{out}", f"{{{operands.index(out)}}}")
            name = (re.findall(r"\b[a-z]\w*(?=\()", source) or ["assign"])[0]
            attribute = f"ipu.numpy = {_quoted(source)}"
        types = [self.types[each] for each in operands]
        callee = self.symbols.declaration(name, attribute, types, uses or ()) if attribute else name
        origins = ", ".join(_quoted(comment(each)[2:]) for each in call.does or (call.origin,))
        taken = f"({', '.join(operands)}) {{ipu.ops = [{origins}]}} : ({', '.join(types)})"
        self.lines.append(f'func.call @"{callee}"{taken} -> ()')

    def _loop(self, loop: Loop) -> None:
        """Nested loops; of what is indexed, each iteration has an element, or a part."""
        bounds = [self._number(each, "index") for each in (0, 1, *loop.counts)]
        variables = [self._named("i", "index") for _ in loop.counts]

        @cache
        def part(view: View) -> str:
            moves = list(zip(variables, view.strides[: view.indexed], strict=False))
            return self._part(view, self._base(view), moves, view.shape[view.indexed :], view.strides[view.indexed :])

        for variable, count in zip(variables, bounds[2:], strict=True):
            self.lines.append(f"scf.for {variable} = {bounds[0]} to {count} step {bounds[1]} {{")
        for call in loop.calls:
            self._call(call, part)
        self.lines += ["}"] * len(variables)

    def _blocks(self, loop: BlockLoop) -> None:
        """The blocks, which may run at the same time; each has scratch of its own, and its units of the rest."""
        bounds = [self._number(each, "index") for each in (0, loop.units, loop.block)]
        lo = self._named("lo", "index")
        self.lines.append(f"scf.forall ({lo}) = ({bounds[0]}) to ({bounds[1]}) step ({bounds[2]}) {{")
        count = self._value(f"affine.min affine_map<(lo) -> ({loop.block}, {loop.units} - lo)>({lo})", "index")
        ends = [self._value(f"arith.index_cast {lo} : index to i64", "i64")]
        ends.append(self._value(f"arith.index_cast {count} : index to i64", "i64"))
        ends[1] = self._value(f"arith.addi {ends[0]}, {ends[1]} : i64", "i64")
        scratch, memory = scratch_plan(loop, self.writer.texts), ""

        @cache
        def scaled(by: int) -> str:
            return count if by == 1 else self._value(f"affine.apply affine_map<(n) -> (n * {by})>({count})", "index")

        if scratch.total_bytes:
            kind = _memref((scratch.total_bytes,), "i8")
            memory = self._value(f"memref.alloca() {{alignment = 64 : i64}} : {kind}", kind)

        @cache
        def part(view: View) -> str:
            place = self.writer.texts.place(view.buffer)
            is_own = view.buffer.role is Role.TEMPORARY and place in scratch.offsets
            base = self._bytes(memory, scratch.offsets[place], view, self.lines) if is_own else self._base(view)
            axis, shape = view.block_axis, list[Any](view.shape)
            if axis is None:
                return self._part(view, base, [], shape, view.strides)
            shape[axis] = scaled(view.block_step)
            moves = [] if is_own else [(lo, view.block_step * view.strides[axis])]
            return self._part(view, base, moves, shape, view.strides)

        for call in loop.calls:
            self._call(call, part, ends if "(lo, hi" in call.template else ())
        self.lines.append("}")

    def _control(self, step: ControlStep) -> None:
        first, second, *last = (*step.blocks, ())
        if step.kind == "for":
            lower, upper, by = (self._number(s, "i64") if isinstance(s, int) else self._loaded(s) for s in step.scalars)
            variable = self._named("i", "i64")
            self.lines.append(f"scf.for {variable} = {lower} to {upper} step {by} : i64 {{")
            if step.number is not None:
                self.known[step.number] = variable
            if step.variable is not None:
                held, kind = self._operand(step.variable), element_text(step.variable.dtype)
                bits = kind.lstrip("u")
                cut = f"arith.trunci {variable} : i64 to {bits}"
                value = self._cast(variable if bits == "i64" else self._value(cut, bits), kind, self.lines)
                self.lines.append(f"memref.store {value}, {held}[] : {self.types[held]}")
            self._steps(first)
        elif step.kind == "while":
            self.lines.append("scf.while : () -> () {")
            self._steps(first)
            self.lines += [f"scf.condition({self._loaded(step.scalars[0])})", "} do {"]
            self._steps(second)
            self.lines.append("scf.yield")
        else:
            self.lines.append(f"scf.if {self._loaded(step.scalars[0])} {{")
            self._steps(first)
            self.lines.append("} else {")
            self._steps(second)
        self.lines.append("}")
        self._steps(last[0] if step.kind == "while" else ())

    def _loaded(self, scalar: int | View) -> str:
        """What is in ``scalar``: a truth value, or an integer in 64 bits."""
        assert isinstance(scalar, View), "constant conditions are no control flow"
        held, kind = self._operand(scalar), element_text(scalar.dtype)
        bits, extend = kind.lstrip("u"), "extui" if kind.startswith("u") else "extsi"
        value = self._cast(self._value(f"memref.load {held}[] : {self.types[held]}", kind), bits, self.lines)
        return value if bits in ("i1", "i64") else self._value(f"arith.{extend} {value} : {bits} to i64", "i64")

    # -- operands

    def _operand(self, operand: Operand) -> str:
        """An operand that is the same wherever it stands, bound in front; the number of a loop where it is needed."""
        if isinstance(operand, LoopNumber):
            number, offset = self.known[operand.buffer], operand.offset
            more = f"arith.addi {number}, {self._number(offset, 'i64')} : i64"
            return self._value(more, "i64") if offset else number
        if isinstance(operand, Const):
            return self._number(_literal(operand.value), element_text(operand.dtype))
        key = (operand.buffer, operand.dtype, operand.offset, operand.shape, operand.strides)
        if key not in self.known:
            base = self._base(operand)
            self.known[key] = self._part(operand, base, [], operand.shape, operand.strides, self.head)
        return self.known[key]

    def _number(self, text: int | str, kind: str) -> str:
        key = ("number", str(text), kind)
        if key not in self.known:
            plain = kind.lstrip("u")
            value = self._value(f"arith.constant {text}{'' if kind == 'i1' else f' : {plain}'}", plain, self.head)
            self.known[key] = self._cast(value, kind, self.head)
        return self.known[key]

    def _base(self, view: View) -> str:
        """The memory of ``view``, row by row, with elements of its type."""
        texts, buffer = self.writer.texts, view.buffer
        if buffer.role is not Role.CONSTANT and not texts.per_run(view):
            kind = _memref((self.symbols.temporary_bytes,), "i8")
            if "memory" not in self.known:
                self.known["memory"] = self._value(
                    f"memref.get_global @{self.symbols.memory} : {kind}", kind, self.head
                )
            return self._bytes(self.known["memory"], texts.plan.offsets[texts.place(buffer)], view, self.head)
        if buffer not in self.known and buffer.role is Role.CONSTANT:
            name = self.symbols.constant(buffer)
            kind = _memref(self.symbols.constants[name].shape, element_text(self.symbols.constants[name].dtype))
            self.known[buffer] = self._value(f"memref.get_global @{name} : {kind}", kind, self.head)
        is_given = buffer.role is not Role.TEMPORARY
        base = self.known[buffer if is_given else texts.result_of_place[texts.place(buffer)]]
        shape = self.types[base].removeprefix("memref<").rpartition("x")[0]
        kind = element_text(view.dtype)
        return self._cast(base, f"memref<{shape}{'x' if shape else ''}{kind}>", self.head)

    def _bytes(self, memory: str, offset: int, view: View, lines: list[str]) -> str:
        """The elements that are in ``memory`` from byte ``offset`` on, as many as ``view`` can reach."""
        is_plain = view.offset == 0 and is_contiguous(view.shape, view.strides)
        steps = ((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True) if s > 0)
        kind = _memref(view.shape if is_plain else (view.offset + sum(steps) + 1,), element_text(view.dtype))
        key = (memory, offset, kind)
        if key not in self.known or lines is not self.head:
            begin = self._number(offset, "index")
            taken = f"memref.view {memory}[{begin}][] : {self.types[memory]} to {kind}"
            self.known[key] = self._value(taken, kind, lines)
        return self.known[key]

    def _part(
        self,
        view: View,
        base: str,
        moves: Sequence[tuple[str, int]],
        shape: Sequence[int | str],
        strides: Sequence[int],
        lines: list[str] | None = None,
    ) -> str:
        """The window of ``shape`` and ``strides`` on ``base`` at the offset of ``view`` and of what ``moves`` it."""
        lines = self.lines if lines is None else lines
        sizes = tuple(n if isinstance(n, int) else "?" for n in shape)
        static = tuple(n for n in shape if isinstance(n, int))
        offset: int | str = view.offset
        is_plain = len(static) == len(shape) and not (moves or offset) and is_contiguous(static, tuple(strides))
        kind = _memref(sizes, element_text(view.dtype))
        if is_plain and self.types[base] == kind:
            return base
        if moves:
            names = [f"d{number}" for number in range(len(moves))]
            terms = "".join(f" + {name} * {by}" for name, (_, by) in zip(names, moves, strict=True))
            mapped = f"affine_map<({', '.join(names)}) -> ({offset}{terms})>({', '.join(each for each, _ in moves)})"
            offset = self._value(f"affine.apply {mapped}", "index", lines)
        if not is_plain:
            layout = f"strided<[{', '.join(map(str, strides))}], offset: {'?' if moves else offset}>"
            kind = f"{kind[:-1]}, {layout}>"
        else:
            strides = row_major(static)
        window = f"offset: [{offset}], sizes: [{', '.join(map(str, shape))}], strides: [{', '.join(map(str, strides))}]"
        taken = f"memref.reinterpret_cast {base} to {window} : {self.types[base]} to {kind}"
        return self._value(taken, kind, lines)

    def _cast(self, value: str, kind: str, lines: list[str]) -> str:
        """The same memory as another type: other elements of the same size, or where it begins is left unsaid."""
        if self.types[value] == kind:
            return value
        return self._value(f"builtin.unrealized_conversion_cast {value} : {self.types[value]} to {kind}", kind, lines)

    def _value(self, op: str, kind: str, lines: list[str] | None = None) -> str:
        """The result of ``op``, of type ``kind``, at the end of ``lines``."""
        value = self._named("", kind)
        (self.lines if lines is None else lines).append(f"{value} = {op}")
        return value

    def _named(self, name: str, kind: str) -> str:
        value = f"%{name}{len(self.types)}"
        self.types[value] = kind
        return value


def element_text(dtype: np.dtype[Any]) -> str:
    """The type of MLIR for the elements of an array: of NumPy's integers it matters whether they have a sign."""
    return "i1" if dtype.kind == "b" else f"{'ui' if dtype.kind == 'u' else dtype.kind}{8 * dtype.itemsize}"


def _memref(shape: Sequence[object], element: str) -> str:
    return f"memref<{'x'.join([*map(str, shape), element])}>"


def _literal(value: np.generic) -> str:
    """An attribute that gives ``value`` back exactly.

    >>> _literal(np.float32(0.1)), _literal(np.uint8(255)), _literal(np.True_)
    ('0x3DCCCCCD', '-1', 'true')
    """
    if value.dtype.kind == "b":
        return str(bool(value)).lower()
    if value.dtype.kind == "f":
        return f"0x{int(value.view(f'u{value.dtype.itemsize}')):0{2 * value.dtype.itemsize}X}"
    return str(int(value.astype(f"i{value.dtype.itemsize}")))


def _quoted(text: str) -> str:
    """``text`` as an attribute of MLIR."""
    return (
        '"' + "".join(each if each.isprintable() and each not in '"\\' else f"\\{ord(each):02X}" for each in text) + '"'
    )
