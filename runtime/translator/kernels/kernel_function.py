"""A kernel while it is written: its parameters, its memory, and its loops."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ipu_mlir.runtime.translator.kernels.scalar.arithmetic import Arithmetic
from ipu_mlir.runtime.translator.kernels.scalar.code import BOOL, I64, LANES, Code, Value, type_text
from ipu_mlir.runtime.translator.statements.access import Access, Buffer

DATA_OFFSET, EXTENTS_OFFSET, STRIDES_OFFSET = 16, 32, 40
"""Bytes from the beginning of an array object to the addresses of its elements, of its extents and of its strides (in
bytes); the engine makes sure of them."""

TABLE = "table"
"""``table(addresses, functions)`` writes where the kernels are, in their order; it reads where ``INTERPRETER`` is."""

INTERPRETER = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
"""What loops call now and then: other threads have their turn, then handlers of signals run."""

_I8 = np.dtype(np.int8)
_NO_UNROLLING = "{loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}"
MOST_UNROLLED = 4
"""Rounds of a loop that LLVM may write out: then elements of small arrays are in registers."""
_LINE = 64  # bytes of a cache line


@dataclass
class Function:
    """Lines of one kernel.

    Attributes:
        places: the representative of the buffers that share memory.
        own: the places of few elements that nothing else uses, with how many; LLVM keeps them in registers.
        parameters: the places that callers give, with the largest buffer of each, in order.
        numbers: the variables of the loops around, by the buffers that hold them too.
        outer: those that callers give, in order.
        polled_every: the iterations, a power of two, after which a loop asks whether to go on; 0 if it never does.
        scratch: the places of which there is one block only, in a function for blocks of ``block[1]`` of ``block[0]``
            units; ``scratch_elements`` says how large that is.
        streamed: the places that are so large that what is written there goes past the caches.
        bases: in a part of a kernel, the elements at which the memory begins that it is given, by place.
        parts: the texts of the parts that are called, by name.
        parts_of: how statements without control flow are written: several as one where they can be.
    """

    places: Mapping[Buffer, Buffer]
    own: Mapping[Buffer, int] = field(default_factory=dict)
    code: Code = field(default_factory=Code)
    parameters: dict[Buffer, Buffer] = field(default_factory=dict)
    numbers: dict[Buffer, str] = field(default_factory=dict)
    outer: list[Buffer] = field(default_factory=list)
    polled_every: int = 0
    scratch: Set[Buffer] = frozenset()
    block: tuple[int, int] = (1, 1)
    scratch_elements: dict[Buffer, int] = field(default_factory=dict)
    streamed: Set[Buffer] = frozenset()
    bases: Mapping[Buffer, int] | None = None
    parts: dict[str, str] = field(default_factory=dict)
    parts_of: Callable[[list[Any]], Sequence[Any]] = list
    _pointers: dict[Buffer, str] = field(default_factory=dict)
    _polling: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        self.ops = Arithmetic(self.code)

    def place(self, buffer: Buffer) -> Buffer:
        """The representative of those that share memory with ``buffer``."""
        return self.places.get(buffer, buffer)

    def pointer(self, buffer: Buffer) -> str:
        """The address of the first element of ``buffer``."""
        place = self.place(buffer)
        if place in self.own and place not in self._pointers:
            self.hold(place, 8 * self.own[place])
        if place in self._pointers and place not in self.parameters:
            return self._pointers[place]
        if place not in self.parameters or self.parameters[place].elements < buffer.elements:
            self.parameters[place] = buffer
        if place not in self._pointers:
            number = list(self.parameters).index(place)
            if self.bases is not None:
                self._pointers[place] = f"%array{number}"
                return self._pointers[place]
            data = self.code.first(f"llvm.getelementptr %array{number}[{DATA_OFFSET}] : (!llvm.ptr) -> !llvm.ptr, i8")
            self._pointers[place] = self.code.first(f"llvm.load {data} : !llvm.ptr -> !llvm.ptr")
        return self._pointers[place]

    def element(self, buffer: Buffer, number: int) -> str:
        """The address of one element of ``buffer``."""
        pointer = self.pointer(buffer)
        return self._element(pointer, self.code.index(number), buffer.dtype) if number else pointer

    def offset(self, access: Access) -> int:
        """The first element that ``access`` names, from where its memory begins here."""
        return access.offset - (self.bases or {}).get(self.place(access.buffer), 0)

    def number(self, variable: Buffer) -> str:
        """The number of the iteration of a loop around, as an i64."""
        if variable not in self.numbers:
            self.numbers[variable] = f"%number{len(self.outer)}"
            self.outer.append(variable)
        return self.numbers[variable]

    def hold(self, buffer: Buffer, bytes_needed: int) -> None:
        """Memory for ``buffer`` until the kernel ends."""
        self._pointers[buffer] = self.code.alloca(bytes_needed)

    def in_scratch(self, buffer: Buffer) -> tuple[int, int] | None:
        """The units in all and in a block, if there is only one block of ``buffer``."""
        return self.block if self.place(buffer) in self.scratch else None

    def hold_in_scratch(self, buffer: Buffer, elements: int) -> None:
        """A block of ``buffer`` has ``elements``."""
        place = self.place(buffer)
        self.scratch_elements[place] = max(elements, self.scratch_elements.get(place, 0))

    def text(self, name: str, numbers: Sequence[str] = ()) -> str:
        """The whole function, which takes ``numbers``, those of loops around, and the arrays."""
        integers = [*numbers, *(f"%number{number}" for number in range(len(self.outer)))]
        arrays = [f"%array{number}: !llvm.ptr" for number in range(len(self.parameters))]
        if self.streamed:  # other threads see it all
            self.code.line("llvm.fence seq_cst")
        linkage = "" if self.bases is None else "internal "
        return self.code.text(name, ", ".join([*(f"{each}: i64" for each in integers), *arrays]), linkage)

    # -- elements in memory

    def load(self, pointer: str, index: str, dtype: np.dtype, lanes: int = 1, mask: Value | None = None) -> Value:
        """The number at ``index``, or those from there on, as many as there are ``lanes``; 0 where ``mask`` is not."""
        held = _I8 if dtype == BOOL else dtype
        kind, size = type_text(held, lanes), held.itemsize
        place = self._element(pointer, index, held)
        if mask is None:
            name = self.code.value(f"llvm.load {place} {{alignment = {size} : i64}} : !llvm.ptr -> {kind}")
        else:
            zeros = self.code.constant(0, held, lanes)
            name = self.code.value(
                f"llvm.intr.masked.load {place}, {mask.name}, {zeros.name} {{alignment = {size} : i32}} : "
                f"(!llvm.ptr, {mask.type}, {kind}) -> {kind}"
            )
        return self._as_read(name, held, dtype, lanes)

    def load_apart(self, pointer: str, index: str, dtype: np.dtype, step: int, count: int = LANES) -> Value:
        """The numbers at ``index`` and each ``step`` further on, one for each lane; nothing behind the last is read.

        Of fewer lanes, the others have some number.
        """
        kind, code, end = type_text(dtype, LANES), self.code, (count - 1) * step + 1
        loaded = []
        for begin in range(0, end, LANES):
            place = self.plus(index, code.index(begin)) or index
            mask = self.lanes_below(code.index(end - begin)) if end - begin < LANES else None
            loaded.append(self.load(pointer, place, dtype, LANES, mask))
        name, taken = loaded[0].name, [divmod(step * lane, LANES) for lane in range(LANES)]
        for number, value in enumerate(loaded[1:] or loaded, 1):
            before = [at if number == 1 else lane for lane, (_, at) in enumerate(taken)]
            lanes = [LANES + at if which == number else b for (which, at), b in zip(taken, before, strict=True)]
            both = f"{', '.join(map(str, lanes))}] : {kind}, {kind}"
            name = code.value(f"vector.shuffle {name}, {value.name} [{both}")
        return Value(name, dtype, LANES)

    def gather(self, pointer: str, indexes: Value, dtype: np.dtype, mask: Value | None, start: str) -> Value:
        """The numbers at ``indexes``, counted from that at ``start`` on."""
        held, lanes = (_I8 if dtype == BOOL else dtype), indexes.lanes
        kind, pointer = type_text(held, lanes), self._element(pointer, start, held)
        places = self.code.value(
            f"llvm.getelementptr {pointer}[{indexes.name}] : (!llvm.ptr, {indexes.type}) -> "
            f"vector<{lanes}x!llvm.ptr>, {type_text(held)}"
        )
        mask = mask or self.code.constant(True, BOOL, lanes)
        zeros = self.code.constant(0, held, lanes)
        name = self.code.value(
            f"llvm.intr.masked.gather {places}, {mask.name}, {zeros.name} {{alignment = {held.itemsize} : i32}} : "
            f"(vector<{lanes}x!llvm.ptr>, {mask.type}, {kind}) -> {kind}"
        )
        return self._as_read(name, held, dtype, lanes)

    def store(
        self, pointer: str, index: str, value: Value, mask: Value | None = None, is_streamed: bool = False
    ) -> None:
        """Write ``value`` at ``index``, and what follows; past the caches if it ``is_streamed`` and lies on lines.

        Lines that are written as a whole are then not read before.
        """
        if value.dtype == BOOL:
            value = self.ops.convert("arith.extui", value, _I8)
        code, place, size = self.code, self._element(pointer, index, value.dtype), value.dtype.itemsize
        if mask is not None:
            code.line(
                f"llvm.intr.masked.store {value.name}, {place}, {mask.name} {{alignment = {size} : i32}} : "
                f"{value.type}, {mask.type} into !llvm.ptr"
            )
            return
        plain = f"llvm.store {value.name}, {place} {{alignment = {size} : i64}} : {value.type}, !llvm.ptr"
        if not is_streamed:
            code.line(plain)
            return
        whole = min(size * value.lanes, _LINE)
        address = code.value(f"llvm.ptrtoint {place} : !llvm.ptr to i64")
        rest = code.value(f"arith.andi {address}, {code.index(whole - 1)} : i64")
        fits = code.value(f"arith.cmpi eq, {rest}, {code.index(0)} : i64")
        with code.block(f"scf.if {fits} {{", "} else {"):
            code.line(
                f"llvm.store {value.name}, {place} {{alignment = {whole} : i64, nontemporal}} : {value.type}, !llvm.ptr"
            )
        with code.block("// across two lines"):
            code.line(plain)

    def _element(self, pointer: str, index: str, dtype: np.dtype) -> str:
        return self.code.value(
            f"llvm.getelementptr {pointer}[{index}] : (!llvm.ptr, i64) -> !llvm.ptr, {type_text(dtype)}"
        )

    def _as_read(self, name: str, held: np.dtype, dtype: np.dtype, lanes: int) -> Value:
        value = Value(name, held, lanes)
        return self.ops.compare("ne", value, self.ops.constant(0, value)) if dtype == BOOL else value

    # -- running values, which LLVM keeps in registers

    def held(self, value: Value) -> str:
        """A place that holds ``value`` for now."""
        code = self.code
        place = code.first(f"llvm.alloca {code.index(1)} x {value.type} {{alignment = 64 : i64}} : (i64) -> !llvm.ptr")
        self.write(place, value)
        return place

    def write(self, place: str, value: Value) -> None:
        """Hold ``value`` from now on."""
        self.code.line(f"llvm.store {value.name}, {place} : {value.type}, !llvm.ptr")

    def read(self, place: str, like: Value) -> Value:
        """What is held, of the type of ``like``."""
        return Value(self.code.value(f"llvm.load {place} : !llvm.ptr -> {like.type}"), like.dtype, like.lanes)

    # -- numbers of elements

    def plus(self, a: str | None, b: str | None) -> str | None:
        """The sum of two i64, either of which may be missing."""
        zero = self.code.index(0)
        a, b = (None if each == zero else each for each in (a, b))
        if a is None or b is None:
            return a or b
        return self.code.value(f"arith.addi {a}, {b} : i64")

    def times(self, a: str, factor: int) -> str | None:
        """A multiple of an i64; None for 0."""
        if factor in (0, 1) or a == self.code.index(0):
            return a if factor else None
        return self.code.value(f"arith.muli {a}, {self.code.index(factor)} : i64")

    def lanes_below(self, count: str) -> Value:
        """The mask of the lanes that have a number below ``count``."""
        dense = ", ".join(map(str, range(LANES)))
        numbers = self.code.first(f"arith.constant dense<[{dense}]> : vector<{LANES}xi64>")
        return self.ops.compare("slt", Value(numbers, I64, LANES), Value(count, I64))

    # -- control flow

    @contextmanager
    def loop(self, count: int | str, step: int = 1, start: int | str = 0) -> Iterator[str]:
        """What runs for ``start``, ``start + step``, ... below ``count``; the number of the iteration."""
        if isinstance(count, int) and isinstance(start, int) and start < count <= start + step:
            yield self.code.index(start)
            return
        low, high = (each if isinstance(each, str) else self.code.index(each) for each in (start, count))
        number = self.code.fresh()
        is_short = isinstance(count, int) and isinstance(start, int) and count - start <= MOST_UNROLLED * step
        with self.code.block(
            f"scf.for {number} = {low} to {high} step {self.code.index(step)} : i64 {{",
            "}" if is_short else f"}} {_NO_UNROLLING}",
        ):
            yield number

    @contextmanager
    def branch(self, condition: str) -> Iterator[None]:
        """What is done if ``condition`` holds."""
        with self.code.block(f"scf.if {condition} {{"):
            yield

    def goes_on(self) -> str:
        """The condition that nobody wants the program to end: asked in every iteration, looked into now and then."""
        if self._polling is None:
            self._polling = self.code.alloca(8), self.code.alloca(8)
        rounds, stopped = self._polling
        code = self.code
        count = code.value(f"llvm.load {rounds} : !llvm.ptr -> i64")
        count = code.value(f"arith.addi {count}, {code.index(1)} : i64")
        code.line(f"llvm.store {count}, {rounds} : i64, !llvm.ptr")
        low = code.value(f"arith.andi {count}, {code.index(self.polled_every - 1)} : i64")
        asks = code.value(f"arith.cmpi eq, {low}, {code.index(0)} : i64")
        with self.branch(asks):
            found = code.value("llvm.call @interrupted() : () -> i64")
            before = code.value(f"llvm.load {stopped} : !llvm.ptr -> i64")
            both = code.value(f"arith.ori {found}, {before} : i64")
            code.line(f"llvm.store {both}, {stopped} : i64, !llvm.ptr")
        held = code.value(f"llvm.load {stopped} : !llvm.ptr -> i64")
        return code.value(f"arith.cmpi eq, {held}, {code.index(0)} : i64")
