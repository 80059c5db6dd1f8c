"""Parts of kernels that many have: functions of their own, written once for all that do the same elsewhere."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.nests import Nest, write_nest
from ipu_mlir.runtime.translator.kernels.products import write_product
from ipu_mlir.runtime.translator.kernels.reductions import Reduced, write_reduction
from ipu_mlir.runtime.translator.kernels.scalar.code import NoKernel
from ipu_mlir.runtime.translator.kernels.scans import write_scan
from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.expression import (
    Apply,
    Const,
    Expression,
    Gather,
    LoopNumber,
    Read,
    moving_accesses,
    postorder,
)
from ipu_mlir.runtime.translator.statements.statements import Dot, Reduce, Scan

Part = Nest | Reduced | Dot | Reduce | Scan

_KEPT = 1024  # parts of which the text stays in memory, of a few KB each


@dataclass(frozen=True)
class _Written:
    """A part as a function: what follows ``llvm.func``, or why there is none.

    Attributes:
        arrays: the places that it is given, by number; one that is not described is scratch memory.
        numbers: the variables of loops that it is given, by their number in the description.
    """

    name: str = ""
    text: str = ""
    arrays: tuple[int | Buffer, ...] = ()
    numbers: tuple[int, ...] = ()
    refusal: str = ""


_known: OrderedDict[Any, _Written] = OrderedDict()


def write_part(function: Function, part: Part) -> None:
    """Append a call of what does ``part``, for the places that it has here.

    Raises:
        NoKernel: there is no form of it.
    """
    described = _Described(function.places, _accesses(part))
    key = described.part(part)
    written = _known.get(key)
    if written is None:
        written = _known[key] = _write(part, described, function.places)
        if len(_known) > _KEPT:
            _known.popitem(last=False)
    if written.refusal:
        raise NoKernel(written.refusal)
    if not written.arrays:
        return
    nest = part.nest if isinstance(part, Reduced) else part
    elided = nest.elided if isinstance(nest, Nest) else frozenset()
    variables = list(described.variables)
    numbers = [function.number(variables[number]) for number in written.numbers]
    addresses = []
    for array in written.arrays:
        members = described.members[array] if isinstance(array, int) else [replace(array)]
        *_, address = [described.address(function, each) for each in members if each not in elided]
        addresses.append(address)
    kinds = ", ".join(["i64"] * len(numbers) + ["!llvm.ptr"] * len(addresses))
    function.code.line(f"llvm.call @{written.name}({', '.join([*numbers, *addresses])}) : ({kinds}) -> ()")
    function.parts[written.name] = written.text


def _write(part: Part, described: "_Described", places: Mapping[Buffer, Buffer]) -> _Written:
    function = Function(places, bases=described.bases)
    try:
        match part:
            case Nest():
                write_nest(function, part)
            case Dot():
                write_product(function, part)
            case Reduce() | Reduced():
                write_reduction(function, part)
            case Scan():
                write_scan(function, part)
    except NoKernel as refused:
        return _Written(refusal=str(refused))
    arrays = tuple(described.number(place, buffer) for place, buffer in function.parameters.items())
    numbers = tuple(described.variables[variable] for variable in function.outer)
    digest = hashlib.sha256(function.text("").encode()).hexdigest()
    name = f"{type(part).__name__.lower()}_{digest[:16]}"
    return _Written(name, function.text(name), arrays, numbers)


def _accesses(part: Part) -> Iterator[Access]:
    if isinstance(part, Dot | Reduce):
        yield from (*part.sources(), *part.dests())
        return
    if isinstance(part, Reduced):
        for each in (part.nest, *part.reduces):
            yield from _accesses(each)
        return
    stores = part.stores if isinstance(part, Nest) else list(zip(part.outputs, part.values, strict=True))
    yield from (out for out, _ in stores)
    yield from moving_accesses(value for _, value in stores)


@dataclass
class _Described:
    """Keys that are equal for parts of equal text: buffers and variables by number, offsets from a ``base``.

    What shares memory has one base, the first element that is named, if all of it has elements of one size.
    """

    places: Mapping[Buffer, Buffer]
    accesses: Iterable[Access]
    buffers: dict[Buffer, int] = field(default_factory=dict)
    variables: dict[Buffer, int] = field(default_factory=dict)
    bases: dict[Buffer, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes: dict[Buffer, int] = {}
        for access in self.accesses:
            buffer = access.buffer
            place, size = self.places.get(buffer, buffer), buffer.dtype.itemsize
            self.buffers.setdefault(buffer, len(self.buffers))
            if sizes.setdefault(place, size) == size:
                before = self.bases.setdefault(place, access.offset)
                self.bases[place] = min(access.offset, before)
            else:
                sizes[place] = self.bases[place] = 0
        self._numbers = {place: number for number, place in enumerate(self.bases)}
        self.members: list[list[Buffer]] = [[] for _ in self.bases]
        for buffer in self.buffers:
            self.members[self._numbers[self.places.get(buffer, buffer)]].append(buffer)

    def number(self, place: Buffer, buffer: Buffer) -> int | Buffer:
        """The number of ``place``; ``buffer`` where the part has memory of its own."""
        return self._numbers.get(place, buffer)

    def address(self, function: Function, buffer: Buffer) -> str:
        """Where the memory begins that a part is given for the place of ``buffer``."""
        return function.element(buffer, self.bases.get(function.place(buffer), 0))

    def part(self, part: Part) -> Any:
        """The key of ``part``."""
        match part:
            case Dot():
                return "dot", part.extents, *map(self._access, (part.a, part.b, part.out))
            case Reduce():
                kind = type(part).__name__, part.extents, part.reduced, part.call, part.unsigned
                return *kind, self._access(part.source), self._access(part.out)
            case Reduced():
                return "reduced", *map(self.part, (part.nest, *part.reduces))
            case Scan():
                outputs = tuple(map(self._access, part.outputs))
                return "scan", part.extents, part.reduced, outputs, self._values(part.values)
            case Nest():
                assert part.begin is None, "a nest that begins where only a run knows is part of a loop"
                elided = tuple(sorted(self.buffers[buffer] for buffer in part.elided if buffer in self.buffers))
                groups = tuple(tuple(self._access(out) for out, _ in group) for group in part.groups)
                return part.extents, part.cut, part.size, elided, groups, self._values(v for _, v in part.stores)

    def _access(self, access: Access) -> Any:
        number = self.buffers[access.buffer]
        place = self.places.get(access.buffer, access.buffer)
        offset = access.offset - self.bases[place]
        return number, self._numbers[place], access.buffer.dtype.char, offset, access.strides

    def _values(self, roots: Iterable[Expression]) -> Any:
        roots = list(roots)
        numbers: dict[int, int] = {}
        nodes = []
        for node in postorder(roots):
            numbers[id(node)] = len(nodes)
            kind = node.dtype.char
            match node:
                case Apply():
                    nodes.append((kind, node.call, *[numbers[id(arg)] for arg in node.args]))
                case Read():
                    nodes.append((kind, 0, self._access(node.access)))
                case Const():
                    nodes.append((kind, node.value.tobytes()))
                case Gather():
                    index = numbers[id(node.index)]
                    nodes.append((kind, 1, self._access(node.access), index, node.stride, node.limit))
                case LoopNumber():
                    variable = self.variables.setdefault(node.buffer, len(self.variables))
                    nodes.append((kind, 2, variable, node.offset))
                case _:
                    raise NoKernel(f"{type(node).__name__} has no form in kernels")
        return tuple(nodes), tuple(numbers[id(root)] for root in roots)
