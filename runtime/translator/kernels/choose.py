"""The statements that become kernels, and the calls that stand for them."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby

from ipu_mlir.runtime.translator.codegen.blocks import Group, is_across
from ipu_mlir.runtime.translator.codegen.run_time_slices import whole
from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, Operand, View
from ipu_mlir.runtime.translator.kernels.control import (
    CODELETS,
    WORK_WITHOUT_ASKING,
    asked_every,
    points,
    rounds_in,
    write_statements,
)
from ipu_mlir.runtime.translator.kernels.declared import Blocks, Declared, declared
from ipu_mlir.runtime.translator.kernels.extremes import extreme_us
from ipu_mlir.runtime.translator.kernels.kernel_function import Function
from ipu_mlir.runtime.translator.kernels.module import KernelText, KernelTexts
from ipu_mlir.runtime.translator.kernels.nests import Nest, joined, ordered, write_nest
from ipu_mlir.runtime.translator.kernels.parts import Part, write_part
from ipu_mlir.runtime.translator.kernels.points import Cut
from ipu_mlir.runtime.translator.kernels.product_forms import (
    beats_blas,
    gained_by_threads_us,
    lanes_of,
    saved_product_us,
)
from ipu_mlir.runtime.translator.kernels.products import write_product
from ipu_mlir.runtime.translator.kernels.random_numbers import (
    is_shared,
    units_of,
    write_random,
)
from ipu_mlir.runtime.translator.kernels.reductions import (
    Reduced,
    fused,
    write_reduction,
)
from ipu_mlir.runtime.translator.kernels.scalar.code import NoKernel
from ipu_mlir.runtime.translator.kernels.scatters import COMBINE, Scattered, scattered, with_computed
from ipu_mlir.runtime.translator.kernels.thin_products import thin
from ipu_mlir.runtime.translator.kernels.worth import is_large_copy, is_read_across, is_small, is_worth_it
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.control import Control, all_statements
from ipu_mlir.runtime.translator.statements.cost import largest_array
from ipu_mlir.runtime.translator.statements.expression import LoopNumber
from ipu_mlir.runtime.translator.statements.iota import INDEX
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import (
    Dot,
    Elementwise,
    FirstExtreme,
    LibraryCall,
    Reduce,
    Scan,
    Statement,
)

_LARGEST_BESIDE = 1 << 16  # terms of a product that is no reason to leave a kernel: more take longer than the call
_MOST_OWN = 8  # elements of an array that is a kernel's own
_FEWEST_ROUNDS = 8  # calls of NumPy that a loop has to be worth
_MOST_ARRAYS = 1000  # of a kernel, beside a few numbers: Python's foreign functions take 1,024 arguments
_COLUMNS = 64  # units at a time where blocks have pieces of rows: whole cache lines, and several vectors
_SHARES = 4  # blocks of random numbers for each thread, in case that one begins late


@dataclass
class Kernels:
    """The kernels of a program, and who uses which memory: ``users`` are statements by identity, 0 what comes after."""

    options: TranslatorOptions
    places: Mapping[Buffer, Buffer]
    users: Mapping[Buffer, Set[int]]
    functions: KernelTexts
    """Those that there are so far, of this program and of others."""

    def of_loop(self, statement: Control) -> Call | None:
        """The call that does all of ``statement``; None if that is not possible, or not worth it."""
        if self.options.kernels == "never":
            return None
        inside = all_statements([statement])
        if any(not is_small(each) for each in inside if not isinstance(each, Control)):
            return None
        rounds = rounds_in([statement])
        if self.options.kernels == "auto" and rounds is not None and rounds < _FEWEST_ROUNDS:
            return None
        function = Function(self.places, self._own_numbers(inside), parts_of=self._parts)
        work = rounds_in([statement], vectors=True)
        if work is None or work > WORK_WITHOUT_ASKING:
            straight = rounds_in([each for each in inside if not isinstance(each, Control)], vectors=True)
            function.polled_every = asked_every(straight or 1)
        try:
            write_statements(function, [statement])
        except NoKernel:
            return None
        return self._call(function, "loop", (), inside)

    def of_block(
        self, group: Group, loops: Mapping[int, int], statements: Sequence[Statement], scratch: Set[Buffer], rounds: int
    ) -> Iterator[Call | Statement]:
        """Calls of kernels for a block of ``group``, and between them the statements that have none.

        ``loops`` are those that are cut, by statement; of what is in ``scratch`` there is only one block. All blocks
        are done ``rounds`` times.
        """
        for is_product, members in groupby(statements, lambda each: _is_for_blas(each, loops[id(each)])):
            run = list(members)
            streamed = {self._place(run[0].dests()[0].buffer)} - scratch if is_large_copy(run) else frozenset()
            is_wanted = self.options.kernels == "always" or (
                self.options.kernels == "auto" and (bool(streamed) or is_worth_it(run, rounds))
            )
            call = self._block(group, loops, run, scratch, streamed) if is_wanted and not is_product else None
            if call is None:
                yield from run
            else:
                yield call

    def of_run(self, statements: Sequence[Statement], rounds: int = 1) -> Iterator[Call | BlockLoop | Statement]:
        """Calls of kernels, and between them the statements that have none; each is done ``rounds`` times."""
        always = self.options.kernels == "always"

        def is_candidate(each: Statement) -> bool:
            if isinstance(each, Dot):
                is_beside = points(each) <= _LARGEST_BESIDE and lanes_of(each) is not None
                return always or is_beside or saved_product_us(each) > gained_by_threads_us(each)
            if isinstance(each, FirstExtreme):  # NumPy may be faster along rows, whatever is saved beside it
                return always or extreme_us(each) > 0
            is_call = isinstance(each, LibraryCall) and each.codelet in CODELETS
            return always or is_call or isinstance(each, Elementwise | Reduce | Scan)

        is_alone = is_shared if self.options.kernels != "never" and self.options.threads > 1 else lambda each: False
        for (alone, is_wanted), members in groupby(statements, lambda each: (is_alone(each), is_candidate(each))):
            run = list(members)
            if alone:
                yield from map(self._shared, run)
                continue
            if self.options.kernels == "never" or not is_wanted or not (always or is_worth_it(run, rounds)):
                yield from run
                continue
            try:
                yield from self._run(run)
            except NoKernel:  # some of them have none
                for is_possible, some in groupby(run, self._is_possible):
                    part = list(some)
                    if is_possible and (always or is_worth_it(part, rounds)):
                        yield from self._run(part)
                    else:
                        yield from part

    # -- what is written

    def _shared(self, statement: Statement) -> BlockLoop | Statement:
        """Random numbers by several threads; ``statement`` itself where they have no form in kernels."""
        assert isinstance(statement, LibraryCall), "only these are shared by themselves"
        units, function = units_of(statement), Function(self.places)
        block = -(-units // (_SHARES * self.options.threads))
        try:
            write_random(function, statement, "%lo", "%hi")
        except NoKernel:
            return statement
        blocks = Blocks(units, block, {}, frozenset())
        call = self._call(function, "block", ("lo", "hi"), [statement], blocks)
        return statement if call is None else BlockLoop(units, block, (call,), (), statement.origin)

    def _run(self, statements: list[Statement]) -> list[Call | Statement]:
        """The call of a kernel, of several for many arrays; ``statements`` themselves where nobody would see it."""
        function, middle = self._written(statements), len(statements) // 2
        if middle and len(function.parameters) > _MOST_ARRAYS:
            return [*self._run(statements[:middle]), *self._run(statements[middle:])]
        call = self._call(function, "run", (), statements)
        return [*statements] if call is None else [call]

    def _written(self, statements: Sequence[Statement]) -> Function:
        """``statements``, one after the other.

        Raises:
            NoKernel: one of them has no form in kernels, or is for BLAS.
        """
        if any(isinstance(each, Dot) and not (is_small(each) or beats_blas(each)) for each in statements):
            raise NoKernel("BLAS does large products")
        function = Function(self.places)
        for part in self._parts(statements):
            if isinstance(part, Part):
                write_part(function, part)
            else:
                write_statements(function, [part])
        return function

    def _is_possible(self, statement: Statement) -> bool:
        try:
            self._written([statement])
        except NoKernel:
            return False
        return True

    def _block(
        self,
        group: Group,
        loops: Mapping[int, int],
        statements: Sequence[Statement],
        scratch: Set[Buffer],
        streamed: Set[Buffer],
    ) -> Call | None:
        function = Function(self.places, scratch=scratch, block=(group.units, group.block), streamed=streamed)
        per_unit = max(largest_array(statement) // group.units for statement in statements)
        strip = max(1, self.options.strip_elements // max(1, per_unit))
        if any(is_across(each, loops[id(each)]) or is_read_across(each) for each in statements):
            strip = max(strip, _COLUMNS)
        if all(isinstance(each, Dot) and thin(each) for each in statements):
            strip = group.units  # nothing of it is read again
        parts = self._parts(statements, lambda each: ordered(each, loops[id(each)], group.units), loops)
        code = function.code
        try:
            with function.loop("%hi", strip, "%lo") as start:
                left = code.value(f"arith.subi %hi, {start} : i64")
                units = code.value(f"arith.minsi {left}, {code.index(strip)} : i64")
                first = code.value(f"arith.subi {start}, %lo : i64")
                for part in parts:
                    if isinstance(part, Nest):
                        write_nest(function, part, Cut(part.cut or 0, part.size, start, units, first))
                        continue
                    assert isinstance(part, Reduced | Reduce | Dot), "only straight-line statements are grouped"
                    if isinstance(part, Reduced):
                        cut = Cut(0, part.nest.size, start, units, first)
                        write_reduction(function, part, part.nest.cut, cut)
                        continue
                    loop = loops[id(part)]
                    cut = Cut(0, part.extents[loop] // group.units, start, units, first)
                    if isinstance(part, Dot):
                        write_product(function, part, loop, cut)
                    else:
                        write_reduction(function, part, loop, cut)
        except NoKernel:
            return None
        blocks = Blocks(group.units, group.block, loops, scratch)
        return self._call(function, "block", ("lo", "hi"), statements, blocks)

    def _parts(
        self,
        statements: Sequence[Statement],
        nest_of: Callable[[Elementwise], Nest] = ordered,
        loops: Mapping[int, int] | None = None,
    ) -> list[Nest | Reduced | Scattered | Statement]:
        """Element-wise statements as nests, neighbours as one where they can be, and reductions of what they compute.

        What a part alone uses is not stored, nor is what a scatter can compute. ``loops`` are those that are cut.
        """
        parts: list[Nest | Reduced | Scattered | Statement] = []
        members: list[list[Statement]] = []
        for statement in statements:
            part = nest_of(statement) if isinstance(statement, Elementwise) else statement
            inside = [*members[-1], statement] if parts else []
            both = self._both(parts[-1], part, (loops or {}).get(id(statement)), inside) if parts else None
            if both is None:
                if isinstance(part, LibraryCall) and part.codelet in COMBINE:
                    part = self._scattered(part, parts, members)
                parts.append(part)
                members.append([statement])
            else:
                parts[-1] = both
                members[-1] = inside
        return [
            each for each in parts if not isinstance(each, Nest) or {out.buffer for out, _ in each.stores} - each.elided
        ]

    def _both(
        self,
        last: Nest | Reduced | Scattered | Statement,
        part: Nest | Statement,
        loop: int | None,
        inside: Sequence[Statement],
    ) -> Nest | Reduced | None:
        """``last`` and then ``part`` as one, which does all that is ``inside``; None if they are two."""
        if not isinstance(last, Nest | Reduced):
            return None
        nest, sums = (last, ()) if isinstance(last, Nest) else (last.nest, last.reduces)
        both = joined(nest, part, self._place) if isinstance(part, Nest) else nest
        if both is None or not isinstance(part, Nest | Reduce | Dot):
            return None
        found: Nest | Reduced | None = replace(both, elided=self._elided(both, inside))
        for each in sums:
            found = None if found is None else fused(found, each, both.cut, self._place)
        return found if found is None or isinstance(part, Nest) else fused(found, part, loop, self._place)

    def _scattered(
        self,
        call: LibraryCall,
        parts: list[Nest | Reduced | Scattered | Statement],
        members: Sequence[Sequence[Statement]],
    ) -> Scattered:
        """``call`` with what is cheap and only for it, of the nests in ``parts``, which they then do not store."""
        scatter, written = scattered(call), {self._place(call.outputs[0].buffer)}
        for number in reversed(range(len(parts))):
            nest, inside = parts[number], members[number]
            if isinstance(nest, Nest):
                read = {access.buffer for access in call.inputs}
                own = self._elided(nest, [*inside, call]) - nest.elided & read
                found = with_computed(scatter, nest, own, written, self._place) if own else None
                if found is not None:
                    scatter, parts[number] = found, replace(nest, elided=nest.elided | own)
            written |= {self._place(access.buffer) for statement in inside for access in statement.dests()}
        return scatter

    def _elided(self, nest: Nest, inside: Sequence[Statement]) -> frozenset[Buffer]:
        """What is written and read at the same point of ``nest``, and nowhere else."""
        written_first: dict[Buffer, bool] = {}
        found = set()
        these = {id(statement) for statement in inside}
        for statement in inside:
            for access in statement.sources():
                written_first.setdefault(self._place(access.buffer), False)
            for access in statement.dests() if isinstance(statement, Elementwise) else []:
                place = self._place(access.buffer)
                if written_first.setdefault(place, True) and self._is_own(place, these) and not access.buffer.mutable:
                    found.add(access.buffer)
        return frozenset(found)

    def _own_numbers(self, statements: Sequence[Statement]) -> dict[Buffer, int]:
        """The places of few elements that only ``statements`` use, and how many they are."""
        used = {access.buffer for statement in statements for access in (*statement.sources(), *statement.dests())}
        sizes: dict[Buffer, int] = {}
        for buffer in used:
            place = self._place(buffer)
            sizes[place] = max(sizes.get(place, 0), buffer.elements)
        these = {id(statement) for statement in statements}
        return {place: size for place, size in sizes.items() if size <= _MOST_OWN and self._is_own(place, these)}

    def _is_own(self, place: Buffer, statements: set[int]) -> bool:
        """True if only the statements with these ids use ``place``."""
        return place.role is Role.TEMPORARY and self.users[place] <= statements

    def _place(self, buffer: Buffer) -> Buffer:
        return self.places.get(buffer, buffer)

    def _call(
        self,
        function: Function,
        kind: str,
        numbers: Sequence[str],
        statements: Sequence[Statement],
        blocks: Blocks | None = None,
    ) -> Call | None:
        """Keep ``function``; the call of it, or None if nobody would see what it does, or it takes too many arrays."""
        written = {self._place(access.buffer) for statement in statements for access in statement.dests()}
        arrays = list(function.parameters)
        if len(arrays) > _MOST_ARRAYS or not any(place in written for place in arrays):
            return None
        uses = declared(function.parameters, self.places, statements, blocks) if self.options.checked else None
        name = self._kept(function, kind, numbers, uses)
        rounds: list[Operand] = [LoopNumber(INDEX, buffer) for buffer in function.outer]
        views = {place: _view(function, place) for place in arrays}
        operands = (*rounds, *views.values())
        out = next(view for place, view in views.items() if place in written)
        taken = ", ".join([*numbers, *(f"{{{number}}}" for number in range(len(operands)))])
        does = tuple(dict.fromkeys(statement.origin for statement in statements))
        return Call(f"{{kernel}}.run({taken})", operands, out, does[0], kernel=name, does=does)

    def _kept(self, function: Function, kind: str, numbers: Sequence[str], uses: Declared | None) -> str:
        """The name of ``function``: of the one before that does the same, if there is one."""
        name = f"{kind}{len(self.functions)}"
        text = function.text(name, [f"%{number}" for number in numbers])
        does = kind, text.replace(f"@{name}(", "", 1)
        if does not in self.functions:
            integers, arrays = len(numbers) + len(function.outer), len(function.parameters)
            self.functions[does] = KernelText(name, integers, arrays, text, function.parts, uses)
        return self.functions[does].name


def _view(function: Function, place: Buffer) -> View:
    """All of the memory that ``function`` gets for ``place``."""
    view = whole(function.parameters[place])
    if place not in function.scratch:
        return view
    return replace(view, shape=(function.scratch_elements[place],), strides=(1,))


def _is_for_blas(statement: Statement, loop: int) -> bool:
    """True for a product of matrices; not for products of rows with rows, and of windows."""
    if not isinstance(statement, Dot) or beats_blas(statement, loop):
        return False
    return not statement.a.loops() == statement.b.loops() >= statement.out.loops()
