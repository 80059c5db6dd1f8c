"""``ipu-gather-messages``: exchanges whose code does not fit move their pieces as messages."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.program.tree import Node, Repeat, Step, children, steps
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.memory.bound import memory_bound
from ipu_mlir.dialects.memory.exchange_code import GATHERS, ExchangeCode
from ipu_mlir.dialects.memory.report import MemoryReport, memory_report
from ipu_mlir.dialects.memory.resident import entries_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass

_MOST_ROUNDS = 8
"""Each looks at the memory of the program anew."""


@dataclass(frozen=True, eq=False)
class Gathering:
    """What one exchange, by the number of its step, saves if it gathers, and the cycles that it takes."""

    number: int
    saved_bytes: int
    cycles: int


def cheapest(choices: Iterable[Gathering], over_bytes: int) -> list[Gathering]:
    """Those that save ``over_bytes`` together, or all: first of which a byte costs the fewest cycles.

    >>> few, many = Gathering(0, 400, 100), Gathering(1, 900, 900)
    >>> [each.number for each in cheapest((many, few), over_bytes=300)]
    [0]
    >>> [each.number for each in cheapest((many, few), over_bytes=500)]
    [0, 1]
    """
    taken: list[Gathering] = []
    for each in sorted(choices, key=lambda each: each.cycles / each.saved_bytes):
        if sum(other.saved_bytes for other in taken) >= over_bytes:
            break
        taken.append(each)
    return taken


class GatherMessages(Pass):
    """Let exchanges gather messages on their tiles where a program does not fit otherwise.

    An exchange needs instructions for every piece that it moves, which stay in the memory of its tiles. If it gathers
    pieces into messages, it needs few, but cycles for the copy, and memory while it runs. A program that fits is left
    alone. Of another, exchanges are taken that save most bytes of the fullest tile for a cycle, until it fits; those
    whose messages would not fit themselves are not.

    Needs:  supersteps (``ipu-form-supersteps``).
    Leaves: ``ipu.gathers`` on the exchanges that were taken.
    """

    name = "ipu-gather-messages"
    keeps_analyses = True

    def run(self, module: ir.Operation) -> None:
        with module.context, ir.Location.unknown():
            for function in entries_of(module):
                _fit(module, symbol_of(function))


def _fit(module: ir.Operation, entry: str) -> None:
    target = module_target(module)
    if memory_bound(module, entry) <= target.bytes_per_tile:
        return
    code = ExchangeCode(target)
    for _ in range(_MOST_ROUNDS):
        report = memory_report(module, entry)
        over = report.peak.largest() - report.limit
        if over <= 0 or over > report.categories["exchange_code"].on(report.peak.worst_tile()):
            return  # it fits, or would not without any code
        taken = cheapest(_choices(report, code, over), over)
        if not taken:
            return
        numbers = {each.number for each in taken}
        for step in steps(report.tree):
            if step.number in numbers:
                step.op.attributes[GATHERS] = ir.UnitAttr.get()


def _choices(report: MemoryReport, code: ExchangeCode, over: int) -> Iterable[Gathering]:
    """Of the exchanges that save code on the fullest tile, and whose messages fit when what is over is saved."""
    tile, times = report.peak.worst_tile(), _times_run(report.tree)
    for step in steps(report.tree):
        if step.kind != "exchange" or GATHERS in step.op.attributes:
            continue
        pieces, messages = code.steering(step.op, gathers=False), code.steering(step.op, gathers=True)
        saved = int((pieces.code - messages.code)[tile])
        more = int((messages.messages - pieces.messages).max())
        room = report.limit + over - report.steps[step.number].live_bytes_worst
        if saved > 0 and more <= room:
            cycles = times[step.number] * int(np.max(messages.cycles) - np.max(pieces.cycles))
            yield Gathering(step.number, saved, cycles)


def _times_run(tree: Node) -> Counter[int]:
    """How often each step runs, by its number; loops and branches that the text leaves open count as one."""
    found = Counter[int]()

    def visit(node: Node, times: int) -> None:
        if isinstance(node, Step):
            found[node.number] += times
        if isinstance(node, Repeat) and node.count:
            times *= node.count
        for child in children(node):
            visit(child, times)

    visit(tree, 1)
    return found
