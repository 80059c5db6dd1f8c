"""Statements in order: in a block loop where that pays, else one after the other."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import prod

from ipu_mlir.runtime.numeric.blas import default_threads
from ipu_mlir.runtime.translator.codegen.blocks import Group, find_groups, split_products
from ipu_mlir.runtime.translator.codegen.control_steps import control_step
from ipu_mlir.runtime.translator.codegen.emit.emit import emit
from ipu_mlir.runtime.translator.codegen.emit.emit_blocks import emit_group
from ipu_mlir.runtime.translator.codegen.schedule import BlockLoop, Call, Schedule
from ipu_mlir.runtime.translator.kernels.choose import Kernels
from ipu_mlir.runtime.translator.kernels.control import rounds_of
from ipu_mlir.runtime.translator.kernels.matrices.product_calls import is_of_matrices, matrix_call
from ipu_mlir.runtime.translator.kernels.module import KernelText, KernelTexts
from ipu_mlir.runtime.translator.statements.access import Buffer
from ipu_mlir.runtime.translator.statements.coalescing import coalesced, stays
from ipu_mlir.runtime.translator.statements.contraction import loop_kinds
from ipu_mlir.runtime.translator.statements.control import Control, ForLoop, all_statements, in_blocks, read_by
from ipu_mlir.runtime.translator.statements.cost import gemm_us
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise, Program, Reduce, Statement

_LEAST_PRODUCT_US = 20.0  # of BLAS, half of which a kernel saves: LLVM takes 45 ms for it, if it is not on disk
_TIMES_FASTER = 2  # a thread with a kernel than one of narrow BLAS
_TERMS_OF_VECTORS, _TERMS_OF_MATRICES = 9216, 1 << 18  # of a product, up to which OpenBLAS has one thread anyway
_ROUNDS = 16  # of a loop of which nobody knows how many it has


def scheduled(program: Program, options: TranslatorOptions) -> tuple[list[Schedule], bool, list[KernelText]]:
    """The calls of ``program`` and of each of its functions, whether BLAS has one thread, and the kernels.

    One threading regime per program: after a product on several threads, BLAS's own threads spin for milliseconds and
    take the cores from ours, and from other processes: beside a busy one, 0.3 ms of products took 45 ms. So where BLAS
    has hardly more threads than we do, or too little to share out, it gets one, and we share out large products.
    """
    parts = [_Part.of(part, options) for part in (program, *program.functions)]
    has_groups = any(any(part.groups) for part in parts)
    statements = [each for part in parts for run in part.runs for each in run]
    products = [each for each in statements if isinstance(each, Dot)]
    longest_us = max(map(gemm_us, products), default=0.0)
    has_few_threads = default_threads() <= _TIMES_FASTER * options.threads
    is_ours = options.kernels == "always" or (
        options.kernels == "auto"
        and options.narrow_blas
        and max(map(gemm_us, filter(is_of_matrices, products)), default=0.0) >= _LEAST_PRODUCT_US
        and (has_groups or has_few_threads)
    )
    is_long = longest_us >= options.block_min_us / 2
    has_groups |= options.threads > 1 and is_long and (is_ours or has_few_threads)
    texts: KernelTexts = {}
    schedules = [part.scheduled(options, has_groups, is_ours, texts) for part in parts]
    has_one = has_groups or ((has_few_threads or not is_long) and any(map(_wakes_threads, statements)))
    return schedules, has_one, list(texts.values())


def _wakes_threads(statement: Statement) -> bool:
    """True if OpenBLAS, left to itself, has several threads for ``statement``: for sums, as products with ones, too."""
    if not isinstance(statement, Dot):
        is_sum = isinstance(statement, Reduce) and statement.call == "add" and statement.out.buffer.dtype.kind == "f"
        return is_sum and prod(statement.extents) > _TERMS_OF_VECTORS
    kinds = loop_kinds(statement)
    terms = prod(statement.extents[loop] for loop in (*kinds.rows, *kinds.columns, *kinds.summed))
    return terms > (_TERMS_OF_MATRICES if kinds.rows and kinds.columns else _TERMS_OF_VECTORS)


@dataclass(frozen=True)
class _Part:
    """A program or a function by itself, with its runs of statements and the groups in each."""

    program: Program
    places: dict[Buffer, Buffer]
    runs: list[tuple[Statement, ...]]
    groups: list[list[Group]]

    @staticmethod
    def of(program: Program, options: TranslatorOptions) -> "_Part":
        places = coalesced(program)
        program = program.with_statements(_moving(program.statements, places))
        runs = list(_runs(program.statements))
        groups = [find_groups(run, places, options) if options.threads > 0 else [] for run in runs]
        return _Part(program, places, runs, groups)

    def scheduled(self, options: TranslatorOptions, has_groups: bool, is_ours: bool, texts: KernelTexts) -> Schedule:
        """The calls; the kernels, of products too if those are ours, are added to ``texts``."""
        groups = self.groups
        if has_groups:
            groups = [split_products(run, found, options) for run, found in zip(self.runs, groups, strict=True)]
        users = _users(self.program, self.places)
        kernels = Kernels(options, self.places, users, texts)
        planner = _Planner(users, {id(run[0]): g for run, g in zip(self.runs, groups, strict=True)}, kernels)
        product = partial(matrix_call, texts, options.kernels == "always") if is_ours else None
        schedule = Schedule(options, self.places, product=product)
        planner.block(self.program.statements, schedule)
        return schedule


@dataclass
class _Planner:
    """Emits blocks; ``groups`` are those of each run of statements without control flow, by its first statement."""

    users: dict[Buffer, set[int]]
    groups: dict[int, list[Group]]
    kernels: Kernels

    def block(self, statements: Sequence[Statement], schedule: Schedule, rounds: int = 1) -> None:
        """Append the steps of ``statements``, which are done ``rounds`` times."""
        for is_control, members in groupby(statements, lambda statement: isinstance(statement, Control)):
            run = tuple(members)
            if not is_control:
                self._run(run, schedule, rounds)
                continue
            for statement in run:
                assert isinstance(statement, Control), "only control flow has blocks"
                kernel = self.kernels.of_loop(statement)
                if kernel is not None:
                    schedule.steps.append(kernel)
                    continue
                known = rounds_of(statement)
                times = rounds * (_ROUNDS if known is None else known)
                blocks = []
                for inside in statement.blocks():
                    inner = Schedule(schedule.options, schedule.places, product=schedule.product)
                    self.block(inside, inner, times)
                    blocks.append(tuple(inner.steps))
                schedule.steps.append(control_step(statement, tuple(blocks)))

    def _run(self, run: Sequence[Statement], schedule: Schedule, rounds: int) -> None:
        starting = {group.start: group for group in self.groups[id(run[0])]}
        position = 0
        while position < len(run):
            group = starting.get(position)
            if group is None:
                end = min((start for start in starting if start > position), default=len(run))
                for step in self.kernels.of_run(run[position:end], rounds):
                    if isinstance(step, Call | BlockLoop):
                        schedule.steps.append(step)
                    else:
                        emit(step, schedule)
                position = end
                continue
            inside = {id(statement) for statement in run[position : position + group.count]}
            elsewhere = {place for place, where in self.users.items() if not where <= inside}
            emit_group(group, run, elsewhere, schedule, self.kernels, rounds)
            position += group.count


def _runs(statements: Sequence[Statement]) -> Iterator[tuple[Statement, ...]]:
    """Every run of statements without control flow, those inside of control flow too."""
    for is_control, members in groupby(statements, lambda statement: isinstance(statement, Control)):
        run = tuple(members)
        if not is_control:
            yield run
            continue
        for statement in run:
            assert isinstance(statement, Control), "only control flow has blocks"
            for block in statement.blocks():
                yield from _runs(block)


def _moving(statements: Sequence[Statement], places: dict[Buffer, Buffer]) -> list[Statement]:
    """``statements`` without copies of something to where it is."""
    return [
        in_blocks(statement, lambda block: _moving(block, places))
        for statement in statements
        if not (isinstance(statement, Elementwise) and stays(statement, places))
    ]


def _users(program: Program, places: dict[Buffer, Buffer]) -> dict[Buffer, set[int]]:
    """The statements that use each place themselves, by identity; 0 stands for what follows the last one."""
    users: dict[Buffer, set[int]] = defaultdict(set)
    for statement in all_statements(program.statements):
        if isinstance(statement, Control):
            written = [statement.variable] if isinstance(statement, ForLoop) and statement.variable else []
        else:
            written = statement.dests()
        for access in (*read_by(statement), *written):
            users[places.get(access.buffer, access.buffer)].add(id(statement))
    for buffer in program.read_afterwards():
        users[places.get(buffer, buffer)].add(0)
    return users
