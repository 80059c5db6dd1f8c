"""From a module in the IR to a ``Program``: every structured op becomes loops, accesses and a scalar body."""

from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from ipu_mlir.dialects.analysis.control_flow import TERMINATORS
from ipu_mlir.dialects.analysis.host_calls import host_call_of
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.runtime.numeric.narrow_floats import bits_dtype, of_bits
from ipu_mlir.runtime.translator.importing.read_affine import affine_apply
from ipu_mlir.runtime.translator.importing.read_body import Unsupported, is_scalar_op, read_scalar_op
from ipu_mlir.runtime.translator.importing.read_calls import Called, functions_called, functions_that_stay
from ipu_mlir.runtime.translator.importing.read_codelets import read_host_call, read_library_call
from ipu_mlir.runtime.translator.importing.read_control import CONTROL_OPS, read_choice
from ipu_mlir.runtime.translator.importing.read_load import loaded
from ipu_mlir.runtime.translator.importing.read_memref import BufferView, constant_buffer, memref_parts
from ipu_mlir.runtime.translator.importing.read_nest import Nest, nests_of
from ipu_mlir.runtime.translator.importing.read_store import stored
from ipu_mlir.runtime.translator.importing.selected_buffers import (
    Alternative,
    Choice,
    Chosen,
    seen_through,
    with_choices,
)
from ipu_mlir.runtime.translator.importing.walk import children, origin_of, value_names
from ipu_mlir.runtime.translator.importing.whole_views import copy_of, whole
from ipu_mlir.runtime.translator.optimize.forward_copies import without_dead
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role
from ipu_mlir.runtime.translator.statements.expression import Apply, Const, Expression, Read, uses_accumulator
from ipu_mlir.runtime.translator.statements.intervals import Ranges
from ipu_mlir.runtime.translator.statements.statements import (
    Check,
    Elementwise,
    Fold,
    Origin,
    Program,
    Statement,
)
from ipu_mlir.runtime.translator.statements.types import narrow_float

_VIEW_OPS = "subview collapse_shape expand_shape cast reinterpret_cast transpose"
_VIEWS = frozenset(f"memref.{op}" for op in _VIEW_OPS.split())
_CONTAINERS = frozenset(["ipu.compute_set", "ipu.vertices"])
_IGNORED = frozenset(["memref.dealloc", "memref.assume_alignment"])


@dataclass(frozen=True)
class Problem:
    """An op that the runtime cannot run, where it stands, and why."""

    op: str
    location: str
    reason: str

    def __str__(self) -> str:
        return f"'{self.op}'{f' at {self.location}' if self.location else ''}: {self.reason}"


@dataclass
class Reader:
    """Reads one function; collects what it cannot read instead of stopping at the first."""

    globals: dict[str, ir.Operation]
    problems: list[Problem] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    views: dict[ir.Value, BufferView] = field(default_factory=dict)
    scalars: dict[ir.Value, Expression] = field(default_factory=dict)
    results: list[BufferView] = field(default_factory=list)
    names: Iterator[str] = field(default_factory=lambda: iter(()))
    unknown: set[ir.Value] = field(default_factory=set)
    functions: dict[str, ir.Operation] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    staying: Set[str] = frozenset()
    """The functions that stay functions."""
    called: dict[str, Called | None] = field(default_factory=dict)
    """Those of them that were read, behind those that they call; None for one that cannot stay."""
    path: tuple[int, ...] = ()
    blocks: Iterator[int] = field(default_factory=count)
    choices: dict[Buffer, Choice] = field(default_factory=dict)

    def inside(self, name: str) -> "Reader":
        """A reader of the function ``name``, which this one calls."""
        names, calls = value_names(self.functions[name]), [*self.calls, name]
        reader = Reader(self.globals, self.problems, names=names, functions=self.functions, calls=calls)
        reader.staying, reader.called = self.staying, self.called
        return reader

    def block_of(self, ops: Sequence[ir.Operation]) -> list[ir.Value]:
        """Read ``ops``; the operands of the terminator, which is the last, are what the block yields."""
        for op in ops:
            if op.name in TERMINATORS:
                for value in op.operands:
                    if value in self.unknown:
                        raise Unsupported("it needs an op inside that the runtime cannot run")
                return list(op.operands)
            self.read(op)
        return []

    def new_block(self) -> int:
        """A number for a block."""
        return next(self.blocks)

    @contextmanager
    def block(self, number: int) -> Iterator[list[Statement]]:
        """Read into block ``number``, which begins empty, instead of the block around it."""
        outer, path = self.statements, self.path
        self.statements, self.path = [], (*path, number)
        try:
            yield self.statements
        finally:
            self.statements, self.path = outer, path

    def choose(self, name: BufferView, choice: Choice, origin: Origin, *, holds: bool) -> None:
        """``name`` is the memory that ``choice`` says from here on; whether it ``holds`` what lies there already."""
        self.choices[name.buffer] = choice
        self.statements.append(Chosen((), origin, name, choice, holds))

    def alternative(self, view: BufferView) -> Alternative:
        """The outer memory that ``view``, which this block yields, is: None for memory that the block made."""
        home = view.buffer.home
        if home is None or home[: len(self.path)] != self.path:
            return view
        return seen_through(self.choices.get(view.buffer), view)

    def function(self, function: ir.Operation) -> Program:
        """The program of ``function``; incomplete if there are problems."""
        self.names = value_names(function)
        block = function.regions[0].blocks[0]
        arguments: list[Buffer] = []
        variables = variable_arguments(function)
        for argument in sorted(block.arguments, key=lambda argument: argument.arg_number in variables):
            variable = variables.get(argument.arg_number)
            view = self._guard(function, lambda value=argument, variable=variable: self._argument(value, variable))
            if view is not None:
                arguments.append(view.buffer)
        for op in children(function):
            self.read(op)
        accesses = tuple(map(whole, self.results))
        shapes = tuple(view.shape for view in self.results)
        name = ir.StringAttr(function.attributes["sym_name"]).value
        statements = with_choices(self.statements, self.results, self.new_block)
        called = functions_called(statements, self.called)
        program = Program(name, tuple(arguments), tuple(statements), accesses, shapes, called)
        return without_dead(program) if self.choices else program

    def read(self, op: ir.Operation) -> None:
        """Append the statements of ``op`` to the block, or note why there are none."""
        if op.name in _CONTAINERS:
            for inner in children(op):
                self.read(inner)
            return
        if any(operand in self.unknown for operand in op.operands):
            self.unknown.update(op.results)  # follows from an op that is reported already
            return
        self._guard(op, lambda: self._read(op))

    def _guard(self, op: ir.Operation, action: Callable[[], BufferView | None]) -> BufferView | None:
        try:
            return action()
        except Unsupported as error:
            self.problems.append(Problem(op.name, place_of(op.location), str(error)))
            self.unknown.update(op.results if op.name != "func.func" else op.regions[0].blocks[0].arguments)
            return None

    def _argument(self, value: ir.Value, variable: str | None) -> BufferView:
        """The buffer that comes from the caller. A float of 16 or 8 bits comes as its bits, and is read from a copy;
        a variable is kept as temporaries are.
        """
        narrow = narrow_float(value.type)
        if variable is not None:
            view = self._fresh(value, Role.STATE)
            self.views[value] = replace(
                view, buffer=replace(view.buffer, name=identifier(variable).rstrip("_") or "state")
            )
            return self.views[value]
        if narrow is None:
            return self._fresh(value, Role.ARGUMENT)
        fresh = self._fresh(value, Role.TEMPORARY)
        seen = replace(fresh, buffer=replace(fresh.buffer, dtype=bits_dtype(narrow), role=Role.ARGUMENT))
        numbers = replace(fresh, buffer=replace(fresh.buffer, name=f"{fresh.buffer.name}_numbers"))
        self.views[value] = numbers
        given = seen.buffer
        if 0 not in seen.shape:
            read = Apply(numbers.buffer.dtype, of_bits(narrow), (Read(given.dtype, whole(seen)),))
            origin = Origin("func.func", place_of(value.location))
            self.statements.append(Elementwise(seen.shape, origin, (whole(numbers),), (read,)))
        return seen

    def _fresh(self, value: ir.Value, role: Role) -> BufferView:
        name = next(self.names)
        parts = memref_parts(value.type)
        narrow = narrow_float(value.type)
        buffer = Buffer(name, parts.elements, parts.dtype, role, parts.shape, home=self.path, narrow=narrow)
        self.views[value] = BufferView(buffer, parts.shape, parts.strides, parts.offset)
        return self.views[value]

    def _read(self, op: ir.Operation) -> None:
        name = op.name
        if name in ("memref.alloc", "memref.alloca"):
            self._fresh(op.results[0], Role.TEMPORARY)
        elif name in _VIEWS:
            parts = memref_parts(op.results[0].type)
            source = self.views[op.operands[0]]
            self.views[op.results[0]] = BufferView(source.buffer, parts.shape, parts.strides, parts.offset)
        elif name == "memref.get_global":
            symbol = ir.FlatSymbolRefAttr(op.attributes["name"]).value
            self.views[op.results[0]] = constant_buffer(symbol, self.globals[symbol], op.results[0].type)
        elif name in ("memref.copy", "ipu.exchange"):
            source, dest = (self.views[operand] for operand in op.operands)
            if 0 not in source.shape:
                self.statements.append(copy_of(source, dest, origin_of(op)))
        elif name in ("memref.load", "ipu.read_control"):
            self._load(op)
        elif name == "memref.store":
            self._store(op)
        elif (call := host_call_of(op)) is not None:
            read_host_call(self, op, call)
        elif name == "func.return":
            self.results = [self.views[operand] for operand in op.operands]
        elif name.startswith("linalg."):
            self._structured(op)
        elif name == "arith.select" and isinstance(op.results[0].type, ir.MemRefType):
            read_choice(self, op)
        elif name in CONTROL_OPS:
            CONTROL_OPS[name](self, op)
        elif name == "affine.apply":
            values = [self.scalars[operand] for operand in op.operands]
            self.scalars[op.results[0]] = affine_apply(ir.AffineMapAttr(op.attributes["map"]).value, values)
        elif name == "cf.assert":
            message = ir.StringAttr(op.attributes["msg"]).value
            self.statements.append(Check((), origin_of(op), (self.scalars[op.operands[0]],), message))
        elif is_scalar_op(name):
            self.scalars[op.results[0]] = read_scalar_op(op, self.scalars)
        elif name not in _IGNORED:
            raise Unsupported("the runtime does not know this op")

    def _load(self, op: ir.Operation) -> None:
        """A scalar from memory is copied at once, so that later writes do not change it."""
        source = self.views[op.operands[0]]
        indices = [self.scalars[index] for index in list(op.operands)[1:]]
        value = loaded(source, indices, Ranges(()))
        held = Buffer("scalar", 1, source.buffer.dtype, Role.TEMPORARY, (), home=self.path)
        self.statements.append(Elementwise((), origin_of(op), (Access(held, 0, ()),), (value,)))
        self.scalars[op.results[0]] = Read(held.dtype, Access(held, 0, ()))

    def _store(self, op: ir.Operation) -> None:
        dest = self.views[op.operands[1]]
        indices = [self.scalars[index] for index in list(op.operands)[2:]]
        self.statements.append(stored(dest, indices, self.scalars[op.operands[0]], origin_of(op)))

    def _structured(self, op: ir.Operation) -> None:
        if "library_call" in op.attributes:
            read_library_call(self, op)
            return
        for nest in nests_of(op, self.views, self.scalars):
            self.statements += [Check(nest.extents, origin_of(op), (holds,), text) for holds, text in nest.checks]
            if nest.outputs and 0 not in nest.extents:
                self.statements.append(_statement(nest, origin_of(op)))


def _statement(nest: Nest, origin: Origin) -> Statement:
    if not any(nest.reduced):
        return Elementwise(nest.extents, origin, nest.outputs, nest.values)
    if any(map(uses_accumulator, nest.values)):
        inits: tuple[Expression, ...] = tuple(Read(out.buffer.dtype, out) for out in nest.outputs)
    else:  # the last point decides, and what was there before may never have been written
        inits = tuple(Const.of(0, out.buffer.dtype) for out in nest.outputs)
    return Fold(nest.extents, origin, nest.reduced, nest.outputs, inits, nest.values)


def find_function(module: ir.Operation, entry: str) -> ir.Operation:
    """The ``func.func`` named ``entry``.

    Raises:
        CompileError: there is none; the message lists those that there are.
    """
    functions = _named(module, "func.func")
    if entry not in functions:
        raise CompileError(f"the module has no function '{entry}'; it has: {', '.join(functions) or 'none'}")
    return functions[entry]


def read_program(module: ir.Operation, entry: str) -> tuple[Program, list[Problem]]:
    """The program of ``entry`` and everything in it that the runtime cannot run."""
    function, functions = find_function(module, entry), _named(module, "func.func")
    staying = functions_that_stay(function, functions)
    reader = Reader(_named(module, "memref.global"), functions=functions, calls=[entry], staying=staying)
    return reader.function(function), reader.problems


def _named(module: ir.Operation, kind: str) -> dict[str, ir.Operation]:
    """The ops of one kind in ``module``, by name."""
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in children(module) if op.name == kind}
