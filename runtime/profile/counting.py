"""Counts of how often the blocks of a program run: as far as its text says, or in a run that counts.

A counted run is one of a copy of the program in which every block that the text leaves open adds one to a counter of
its own; the counters are further results. So what counts is IR that runs as any other, and programs that nobody counts
pay nothing.
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np

from ipu_mlir.dialects.analysis.counted_branches import times_taken
from ipu_mlir.dialects.analysis.matchers import function_type, terminator
from ipu_mlir.dialects.analysis.outlined_calls import calls_in
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import (
    Branch,
    Call,
    Node,
    Repeat,
    Sequence,
    Step,
    While,
    control_nodes,
    own_control_nodes,
)
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


@dataclass(frozen=True)
class BlockCounts:
    """The number of times that each block of a program runs.

    Attributes:
        of: by number of the block; what nobody knows counts as once, in either arm of a branch.
        known: whether the number is certain.
        measured: whether a run has counted.
        unknown: the control flow that nobody knows about, in program order.
    """

    of: dict[int, int]
    known: dict[int, bool]
    measured: bool
    unknown: tuple[ir.Operation, ...]


def open_blocks(tree: Sequence) -> list[Sequence]:
    """The blocks for which the text does not say how often control flow enters them, by rising number."""
    found = [block for node in control_nodes(tree) for block in _open_blocks_of(node)]
    return sorted(found, key=lambda block: block.number)


def _open_blocks_of(node: Node) -> tuple[Sequence, ...]:
    match node:
        case While():
            return node.condition, node.body
        case Branch():
            return node.bodies
        case Repeat(count=None):
            return (node.body,)
        case _:
            return ()


def block_counts(tree: Sequence, entered: dict[int, int] | None = None) -> BlockCounts:
    """The number of times that blocks run in one execution of ``tree``.

    Args:
        entered: for the numbers of all open blocks, how often they were entered (``count_entries``); without it they
            are taken to run once whenever the block around them does, the condition of a loop twice.
    """
    counter = _Counter(entered)
    counter.program(tree)
    unknown = tuple(dict.fromkeys(counter.unknown))
    return BlockCounts(counter.counts, counter.known, entered is not None, unknown)


def _callers_first(tree: Sequence) -> list[Sequence]:
    """The bodies of the functions that ``tree`` calls, each behind those of the functions that call it."""
    found: dict[int, Sequence] = {}

    def add(sequence: Sequence) -> None:
        for call in (each for each in own_control_nodes(sequence) if isinstance(each, Call)):
            if call.body.number not in found:
                add(call.body)
                found[call.body.number] = call.body

    add(tree)
    return list(found.values())[::-1]


class _Counter:
    def __init__(self, entered: dict[int, int] | None) -> None:
        self._entered = entered
        self.counts: dict[int, int] = {}
        self.known: dict[int, bool] = {}
        self.unknown: list[ir.Operation] = []
        self._calls: dict[int, tuple[int, bool]] = {}
        """By the block of a function, how often it is called, and whether that is certain."""

    def program(self, tree: Sequence) -> None:
        """Count the blocks of ``tree``; those of a function once, behind all that call it."""
        self.block(tree, 1, True)
        for body in _callers_first(tree):
            self.block(body, *self._calls[body.number])

    def block(self, sequence: Sequence, times: int, known: bool) -> None:
        """``sequence`` runs ``times`` more times."""
        self.counts[sequence.number] = self.counts.get(sequence.number, 0) + times
        self.known[sequence.number] = self.known.get(sequence.number, True) and known
        for child in sequence.children:
            self._node(child, times, known)

    def _node(self, node: Node, times: int, known: bool) -> None:
        match node:
            case Step():
                return
            case Sequence():
                self.block(node, times, known)
            case Call():
                before, certain = self._calls.get(node.body.number, (0, True))
                self._calls[node.body.number] = before + times, certain and known
            case Repeat(count=int(count)):
                self.block(node.body, times * count, known)
            case Branch(bodies=bodies) if self._entered is None and (taken := times_taken(node.op)) is not None:
                for inner, share in zip(bodies, taken, strict=False):
                    self.block(inner, times * share // sum(taken), known)
            case Repeat() | While() | Branch():
                self._open(node, times)

    def _open(self, node: Repeat | While | Branch, times: int) -> None:
        if self._entered is None:
            self.unknown.append(node.op)
        for place, inner in enumerate(_open_blocks_of(node)):
            if self._entered is None:
                is_condition = isinstance(node, While) and place == 0
                self.block(inner, times * (2 if is_condition else 1), False)
            elif inner.number not in self.counts:  # the counter has counted the entries of all calls
                self.block(inner, self._entered[inner.number], True)


def count_entries(
    module: ir.Operation, entry: str, inputs: Many[np.ndarray], state: State | None = None
) -> dict[int, int]:
    """Run ``entry`` of a module of supersteps on ``inputs`` and count how often it enters each open block.

    Args:
        state: variables that the run starts with, and changes; without them, those that the program says.

    Returns:
        entries by number of the block; nothing is run where the text leaves nothing open.

    Raises:
        RunError: the inputs do not fit the program.
    """
    copy, blocks = with_counters(module, entry)
    if not blocks:
        return {}
    if module_target(copy).replicas == 1:
        return counts_in(Engine(copy, entry).run(inputs, state), blocks)
    return counts_in([rows[0] for rows in _run_on_replicas(copy, entry, inputs, state)], blocks)


def with_counters(module: ir.Operation, entry: str) -> tuple[ir.Operation, list[int]]:
    """A copy of ``module`` whose ``entry`` has a further result for each open block; and the numbers of those."""
    copy = module.clone()
    blocks = open_blocks(program_tree(copy, entry))
    if blocks:
        with module.context, ir.Location.unknown():
            _add_counters(copy, entry, [block.block for block in blocks])
    return copy, [block.number for block in blocks]


def counts_in(results: Many[np.ndarray], blocks: Many[int]) -> dict[int, int]:
    """The number of times that each of ``blocks`` was entered, from what a program ``with_counters`` has given."""
    counters = results[len(results) - len(blocks) :]
    return {block: int(count) for block, count in zip(blocks, counters, strict=True)}


def _run_on_replicas(
    module: ir.Operation, entry: str, inputs: Many[np.ndarray], state: State | None
) -> list[np.ndarray]:
    """The results of every replica: of supersteps, only the per-tile executor runs several."""
    if state is None:
        return PerTileExecutor(module, entry).run(inputs)
    values = {name: cell.value(name) for name, cell in state.cells.items() if cell.has_value}
    return PerTileExecutor(module, entry).run(inputs, values, state.streams, state.remote)


_TEMPLATE = """
#one_tile = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
#scalar = affine_map<() -> ()>
func.func @template() {
  %counter = memref.alloc() : memref<i64, #one_tile>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#scalar], iterator_types = []} outs(%counter : memref<i64, #one_tile>) {
      ^bb0(%old: i64):
        %zero = arith.constant 0 : i64
        linalg.yield %zero : i64
      }
    }) {codelet = "fill_i64", parts = #ipu.parts<[], 0>} : () -> ()
  }) : () -> ()
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      linalg.generic {indexing_maps = [#scalar], iterator_types = []} outs(%counter : memref<i64, #one_tile>) {
      ^bb0(%old: i64):
        %one = arith.constant 1 : i64
        %new = arith.addi %old, %one : i64
        linalg.yield %new : i64
      }
    }) {codelet = "addi_i64", parts = #ipu.parts<[], 0>} : () -> ()
  }) : () -> ()
  return
}
"""


def _add_counters(module: ir.Operation, entry: str, blocks: list[ir.Block]) -> None:
    """Let ``entry`` give, besides its results, how often each of ``blocks`` was entered."""
    template = ir.Module.parse(_TEMPLATE)
    alloc, reset, increment, _ = (op.operation for op in template.body.operations[0].regions[0].blocks[0].operations)
    functions = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "func.func"]
    main = next(op for op in functions if ir.StringAttr(op.attributes["sym_name"]).value == entry)
    counters: dict[ir.Operation, list[ir.Value]] = {}
    for function in functions:
        _drop_attributes_of_values(function, ("res_attrs",) if function == main else ("arg_attrs", "res_attrs"))
        if function == main:
            with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
                counters[function] = [alloc.clone().results[0] for _ in blocks]
                for counter in counters[function]:
                    _on(reset, counter)
        elif function.regions[0].blocks:
            counters[function] = _add_arguments(function, [alloc.results[0].type] * len(blocks))
    for number, block in enumerate(blocks):
        with ir.InsertionPoint.at_block_begin(block):
            _on(increment, counters[_function_around(block)][number])
    _hand_on(main, counters)


def _on(compute_set: ir.Operation, counter: ir.Value) -> None:
    """A copy of ``compute_set`` whose vertex works on ``counter``."""
    vertices = compute_set.clone().regions[0].blocks[0].operations[0]
    vertices.regions[0].blocks[0].operations[0].operands[0] = counter


def _function_around(block: ir.Block) -> ir.Operation:
    op = block.owner.operation
    while op.name != "func.func":
        op = op.parent.operation
    return op


def _drop_attributes_of_values(op: ir.Operation, names: Many[str] = ("arg_attrs", "res_attrs")) -> None:
    """Attributes of arguments and results are lists with one entry each: MLIR reads past the end of a shorter one."""
    for name in names:
        if name in op.attributes:
            del op.attributes[name]


def _add_arguments(function: ir.Operation, types: list[ir.Type]) -> list[ir.Value]:
    old = function_type(function)
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([*old.inputs, *types], old.results))
    return [function.regions[0].blocks[0].add_argument(each, ir.Location.unknown()) for each in types]


def _hand_on(main: ir.Operation, counters: dict[ir.Operation, list[ir.Value]]) -> None:
    """Give the counters to every function that is called, and let ``main`` return its own."""
    for function, own in counters.items():
        for call in calls_in(function):
            with ir.InsertionPoint(call):
                types = [result.type for result in call.results]
                _drop_attributes_of_values(call)
                attributes = {name: call.attributes[name] for name in call.attributes}
                new = ir.Operation.create("func.call", types, [*call.operands, *own], attributes)
            for result, found in zip(call.results, new.results, strict=True):
                result.replace_all_uses_with(found)
            call.erase()
    block = main.regions[0].blocks[0]
    end = terminator(block)
    returned = [*end.operands, *counters[main]]
    with ir.InsertionPoint(end):
        ir.Operation.create("func.return", [], returned)
    end.erase()
    inputs = [argument.type for argument in block.arguments]
    kind = ir.FunctionType.get(inputs, [value.type for value in returned])
    main.attributes["function_type"] = ir.TypeAttr.get(kind)
