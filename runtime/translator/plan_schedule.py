"""Statements in order: in a block loop where that pays, else one after the other."""

from collections import defaultdict

from ipu_mlir.runtime.translator.access import Buffer
from ipu_mlir.runtime.translator.blocks import find_groups, split_products
from ipu_mlir.runtime.translator.emit import emit
from ipu_mlir.runtime.translator.emit_blocks import emit_group
from ipu_mlir.runtime.translator.options import TranslatorOptions
from ipu_mlir.runtime.translator.places import shared_places
from ipu_mlir.runtime.translator.schedule import Schedule
from ipu_mlir.runtime.translator.statements import Program


def scheduled(program: Program, options: TranslatorOptions) -> tuple[Schedule, bool]:
    """The calls of ``program``, and whether some run in block loops.

    One threading regime per program: after a product on several threads, BLAS's own threads spin for milliseconds and
    take the cores from ours. So either everything is left to BLAS, or it gets one thread and we share out the rest.
    """
    schedule = Schedule(options, shared_places(program))
    groups = find_groups(program.statements, schedule.places, options) if options.threads > 0 else []
    if groups:
        groups = split_products(program.statements, groups, options)
    users = _users(program, schedule.places)
    starting = {group.start: group for group in groups}
    position = 0
    while position < len(program.statements):
        group = starting.get(position)
        if group is None:
            emit(program.statements[position], schedule)
            position += 1
            continue
        inside = range(position, position + group.count)
        elsewhere = {place for place, where in users.items() if not where.issubset(inside)}
        emit_group(group, program.statements, elsewhere, schedule)
        position += group.count
    return schedule, bool(groups)


def _users(program: Program, places: dict[Buffer, Buffer]) -> dict[Buffer, set[int]]:
    """The statements that use each place; a result is used after the last statement too."""
    users: dict[Buffer, set[int]] = defaultdict(set)
    for position, statement in enumerate(program.statements):
        for access in (*statement.sources(), *statement.dests()):
            users[places.get(access.buffer, access.buffer)].add(position)
    for access in program.results:
        users[places.get(access.buffer, access.buffer)].add(len(program.statements))
    return users
