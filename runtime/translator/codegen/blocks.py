"""Runs of statements that can share a loop over blocks: layer norms, softmaxes and whole layers that stay in cache.

For ``units`` blocks at most, each statement gets a parallel loop whose extent is a multiple of ``units``. A buffer that
the run writes is *local to the unit* if the index of the unit is a digit of its address: then what one unit writes,
only the same unit reads, and blocks of units may run one after another or side by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from math import prod

from ipu_mlir.runtime.translator.statements.access import Access, Buffer
from ipu_mlir.runtime.translator.statements.contraction import LoopKinds, loop_kinds
from ipu_mlir.runtime.translator.statements.cost import elementwise_us, gemm_us, largest_array
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, LibraryCall, Reduce, Statement
from ipu_mlir.runtime.translator.statements.transform import parallel_extents

Places = Mapping[Buffer, Buffer]

_MOST_COUNTS = 12  # numbers of units that are tried per run
_MOST_STARTS = 4
_LONGEST = 64  # statements in a run: keeps the search linear in the length of the program
_TIMES_FASTER = 4  # a kernel than calls of NumPy: waking a thread is worth it for longer runs only
_BYTES_PER_US = 16e3  # from and to memory, by one thread
_FEW_RESULTS = 64  # rows and columns of a matrix of which each thread would pack a whole factor for half of one tile
_LOST_ACROSS = 0.5  # of what a block is worth, if it has pieces of rows: slow to walk, and more of a cache


@dataclass(frozen=True)
class Group:
    """``count`` statements from ``start`` on, cut along ``loops`` into blocks of ``block`` of ``units`` units."""

    start: int
    loops: tuple[int, ...]
    units: int
    block: int

    @property
    def count(self) -> int:
        return len(self.loops)


def unit_size(access: Access, statement: Statement, loop: int, units: int) -> int | None:
    """The distance of one unit from the next in memory, if ``access`` is local to the unit; else None.

    With S = elements per unit: every other loop has a stride divisible by ``units`` * S, or stays within S together
    with all such loops and the offset.
    """
    per_unit = statement.extents[loop] // units
    size = access.strides[loop] * per_unit
    if size <= 0:
        return None
    period = units * size
    within = (per_unit - 1) * access.strides[loop] + access.offset % period
    for other, (extent, stride) in enumerate(zip(statement.extents, access.strides, strict=True)):
        if other != loop and stride % period:
            within += (extent - 1) * stride
    return size if 0 <= within < size else None


@dataclass(frozen=True)
class _Costs:
    """The time of each statement, computed once."""

    statements: Sequence[Statement]
    outside_us: list[float]
    gemm_us: list[float]
    largest: list[int]
    of_memory: bool

    def total_us(self, start: int, stop: int) -> float:
        return sum(self.outside_us[start:stop]) + sum(self.gemm_us[start:stop])

    def of_group(self, group: "Group") -> float:
        """The time of the loop of ``group``."""
        return self.total_us(group.start, group.start + group.count)

    def starts(self, position: int, options: TranslatorOptions) -> range:
        """``position``, and what follows statements on small arrays: with one of those, fewer may fit into the loop."""
        stop = position
        while stop < len(self.largest) - 1 and self.largest[stop] < options.block_min_array:
            stop += 1
        return range(position, min(stop, position + _MOST_STARTS) + 1)

    def worth_a_loop(self, start: int, stop: int, options: TranslatorOptions, lost_us: float = 0.0) -> bool:
        """True if the statements are long enough and have a large enough array outside of products."""
        arrays = [n for n, us in zip(self.largest[start:stop], self.gemm_us[start:stop], strict=True) if us == 0]
        faster = 1 if options.kernels == "never" else _TIMES_FASTER
        in_all_us = self.total_us(start, stop) - lost_us
        is_long = in_all_us > faster * options.block_min_us
        return (
            sum(self.outside_us[start:stop]) - lost_us > options.block_min_elementwise_us
            and (
                is_long
                or (self.of_memory and not lost_us and _memory_us(self.statements[start:stop]) > options.block_min_us)
            )
            and max(arrays, default=0) >= options.block_min_array
        )


def _memory_us(statements: Sequence[Statement]) -> float:
    """Time to read what is not made by ``statements``, and to write what the last one makes."""
    made: set[Buffer] = set()
    bytes_of: dict[Buffer, int] = {}
    for statement in statements:
        if isinstance(statement, LibraryCall):  # in no loop
            break
        used = [each for each in statement.sources() if each.buffer not in made]
        for access in (*used, *(statement.dests() if statement is statements[-1] else ())):
            elements = prod(n for n, stride in zip(statement.extents, access.strides, strict=True) if stride)
            size = min(elements, access.buffer.elements) * access.buffer.dtype.itemsize
            bytes_of[access.buffer] = max(size, bytes_of.get(access.buffer, 0))
        made.update(access.buffer for access in statement.dests())
    return sum(bytes_of.values()) / _BYTES_PER_US


def find_groups(statements: Sequence[Statement], places: Places, options: TranslatorOptions) -> list[Group]:
    """The runs that are worth a block loop, in order and disjoint; ``places`` says which buffers share memory.

    What is left between them is, as a kernel, worth one for the bytes that it moves.
    """
    groups = _groups_in(statements, places, options, of_memory=False)
    if options.kernels == "never":
        return groups
    found: list[Group] = []
    position = 0
    for group in (*groups, Group(len(statements), (), 1, 1)):
        between = _groups_in(statements[position : group.start], places, options, of_memory=True)
        found += [*(replace(each, start=position + each.start) for each in between), group]
        position = group.start + group.count
    return found[:-1]


def _groups_in(
    statements: Sequence[Statement], places: Places, options: TranslatorOptions, of_memory: bool
) -> list[Group]:
    """The runs that are worth a block loop for what they compute or, if ``of_memory`` holds, for what they move."""
    costs = _Costs(
        statements,
        [elementwise_us(s) for s in statements],
        [gemm_us(s) for s in statements],
        [largest_array(s) for s in statements],
        of_memory,
    )
    groups: list[Group] = []
    position = 0
    while position < len(statements):
        starts = costs.starts(position, options)
        found = [_best_group(statements, start, places, costs, options) for start in starts]
        group = max((each for each in found if each is not None), key=costs.of_group, default=None)
        if group is not None:
            groups.append(group)
        position = starts[-1] + 1 if group is None else group.start + group.count
    return groups


def split_products(statements: Sequence[Statement], groups: list[Group], options: TranslatorOptions) -> list[Group]:
    """``groups`` and, between them, each large contraction as a group of its own.

    Where block loops run, BLAS has one thread for the whole run, so the other contractions are shared out here.
    """
    covered = {position for group in groups for position in range(group.start, group.start + group.count)}
    result = list(groups)
    for position, statement in enumerate(statements):
        if position in covered or not isinstance(statement, Dot) or gemm_us(statement) < options.block_min_us / 2:
            continue
        kinds = loop_kinds(statement)
        loops = [
            loop for loop in (*kinds.batch, *kinds.rows, *kinds.columns) if statement.extents[loop] >= options.threads
        ]
        if loops and not _has_few_results(statement, kinds):
            outermost = max(loops, key=lambda loop: statement.out.strides[loop])
            loop = _cut_rather(statement, kinds, outermost, loops, options)
            units = statement.extents[loop]
            result.append(Group(position, (loop,), units, -(-units // options.threads)))
    return sorted(result, key=lambda group: group.start)


def _has_few_results(dot: Dot, kinds: LoopKinds) -> bool:
    """True of a small matrix whose sums are long: 32 x 20,000 times 20,000 x 16 took 0.35 ms, in two halves 1.54."""
    sizes = [prod(dot.extents[loop] for loop in loops) for loops in (kinds.rows, kinds.columns, kinds.summed)]
    return not kinds.batch and max(sizes[:2]) < min(_FEW_RESULTS, sizes[2])


def _cut_rather(dot: Dot, kinds: LoopKinds, loop: int, possible: Sequence[int], options: TranslatorOptions) -> int:
    """The loop of ``possible`` to cut in place of ``loop``, where each thread would pack a whole factor for few rows.

    32 x 4096 times 4096 x 4096 did 57 billion operations per second and thread in halves of its rows, 85 in halves of
    its columns.
    """
    for own, other in ((kinds.rows, kinds.columns), (kinds.columns, kinds.rows)):
        few, many = (prod(dot.extents[each] for each in loops) for loops in (own, other))
        if loop in own and other and other[0] in possible and few < min(many, options.block_min_gemm_rows):
            return other[0]
    return loop


def _best_group(
    statements: Sequence[Statement], start: int, places: Places, costs: _Costs, options: TranslatorOptions
) -> Group | None:
    """The most work that can share a loop beginning with statement ``start``; None if it is not worth one."""
    if not costs.worth_a_loop(start, start + _LONGEST, options):
        return None
    best: Group | None = None
    best_us = 0.0
    for units in _unit_counts(statements[start : start + _LONGEST], options):
        loops = _longest_run(statements, start, units, places)
        stop = start + len(loops)
        across = [is_across(statements[start + n], loop) for n, loop in enumerate(loops)]
        lost_us = _LOST_ACROSS * sum(compress(costs.outside_us[start:stop], across))
        total_us = costs.total_us(start, stop) - lost_us
        if total_us > best_us and costs.worth_a_loop(start, stop, options, lost_us):
            block = block_size(statements[start:stop], loops, units, options)
            if block is not None:
                best, best_us = Group(start, tuple(loops), units, block), total_us
    return best


def is_across(statement: Statement, loop: int) -> bool:
    """True if a block of ``statement`` has a piece of each row instead of whole rows."""
    if isinstance(statement, Dot):
        return False
    out = statement.dests()[0]
    return any(n > 1 and s > out.strides[loop] for n, s in zip(statement.extents, out.strides, strict=True))


def _unit_counts(window: Sequence[Statement], options: TranslatorOptions) -> list[int]:
    """Numbers of units to try, largest first: extents of loops that divide one of the first statement's."""
    first = set(parallel_extents(window[0]))
    extents = {extent for statement in window for extent in parallel_extents(statement)}
    fitting = [n for n in extents if n >= max(options.threads, 2) and any(extent % n == 0 for extent in first)]
    return sorted(fitting, reverse=True)[:_MOST_COUNTS]


@dataclass
class _Run:
    """The uses of memory by the statements of a run, per place."""

    units: int
    places: Places
    written: set[Buffer] = field(default_factory=set)
    read_anyhow: set[Buffer] = field(default_factory=set)  # read by other units too: must not be written in this run
    sizes: dict[Buffer, int] = field(default_factory=dict)

    def place(self, access: Access) -> Buffer:
        return self.places.get(access.buffer, access.buffer)

    def joining_loop(self, statement: Statement) -> int | None:
        """The outermost loop along which ``statement`` fits the run so far."""
        if not isinstance(statement, Elementwise | Dot | Reduce):
            return None
        dests = statement.dests()
        if any(self.place(dest) in self.read_anyhow for dest in dests):
            return None
        fitting = [
            loop
            for loop, extent in enumerate(parallel_extents(statement))
            if extent >= self.units
            and extent % self.units == 0
            and all(dest.strides[loop] for dest in dests)
            and self._fits(statement, loop)
        ]
        return max(fitting, key=lambda loop: dests[0].strides[loop], default=None)

    def _fits(self, statement: Statement, loop: int) -> bool:
        """True if everything in places that are written stays local to the unit."""
        own = {self.place(dest) for dest in statement.dests()}
        for access in (*statement.dests(), *statement.sources()):
            place = self.place(access)
            if place in self.written or place in own:
                size = unit_size(access, statement, loop, self.units)
                if size is None or self.sizes.get(place, size) != size:
                    return False
        return True

    def join(self, statement: Statement, loop: int) -> None:
        for access in statement.sources():
            place, size = self.place(access), unit_size(access, statement, loop, self.units)
            if size is None or self.sizes.setdefault(place, size) != size:
                self.read_anyhow.add(place)
        for access in statement.dests():
            size = unit_size(access, statement, loop, self.units)
            assert size is not None, "a loop joins only if all results are local"
            self.sizes[self.place(access)] = size
            self.written.add(self.place(access))


def _longest_run(statements: Sequence[Statement], start: int, units: int, places: Places) -> list[int]:
    """The loop of each statement that can join, from ``start`` on."""
    run = _Run(units, places)
    loops: list[int] = []
    for statement in statements[start : start + _LONGEST]:
        loop = run.joining_loop(statement)
        if loop is None:
            break
        run.join(statement, loop)
        loops.append(loop)
    return loops


def block_size(run: Sequence[Statement], loops: list[int], units: int, options: TranslatorOptions) -> int | None:
    """Units per block: a cache full of the largest array, an equal number of blocks for each thread.

    A lone copy or fill has nothing to keep in the cache: one block for each thread, long enough to go past the cache
    (25 MB of f32 took 1.4 ms in two blocks, 1.7 ms in blocks of 2 MB).
    """
    if len(run) == 1 and isinstance(run[0], Elementwise) and (run[0].copied() or run[0].filled()):
        return -(-units // options.threads)
    largest = max(largest_array(statement) for statement in run)
    block = max(1, options.block_elements * units // max(largest, 1))
    for statement, loop in zip(run, loops, strict=True):
        if isinstance(statement, Dot) and _is_of_matrices(statement):
            block = max(block, -(-options.block_min_gemm_rows // _rows_per_unit(statement, loop, units)))
    pieces = max(options.threads, -(-units // block))
    pieces = -(-pieces // options.threads) * options.threads
    block = max(1, -(-units // pieces))
    for statement, loop in zip(run, loops, strict=True):
        for access in (*statement.sources(), *statement.dests()):
            stride = access.strides[loop]
            if stride and stride * (statement.extents[loop] // units) * block < options.block_min_run:
                large = largest_array(statement) >= options.block_min_array and isinstance(statement, Elementwise)
                if large and len(access.loops()) > 1:
                    return None
    return block


def _is_of_matrices(dot: Dot) -> bool:
    """True for a product of matrices, of which BLAS packs a factor; not of vectors, and of matrices with vectors."""
    kinds = loop_kinds(dot)
    return bool(kinds.rows and kinds.columns)


def _rows_per_unit(dot: Dot, loop: int, units: int) -> int:
    """Rows of the product that one unit has; a batch entry has all its rows."""
    kinds = loop_kinds(dot)
    rows = 1
    for other in kinds.rows if loop not in kinds.columns else kinds.columns:
        rows *= dot.extents[other]
    return max(1, rows // units) if loop not in kinds.batch else max(1, rows * dot.extents[loop] // units)
