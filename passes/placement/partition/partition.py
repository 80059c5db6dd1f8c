"""``ipu-partition``: which part of every op runs on which tile."""

import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Literal

from ipu_mlir.dialects.analysis.matchers import defining_op, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of, callees_first, calls_by_callee
from ipu_mlir.dialects.analysis.shards import argument_shards, shard_of
from ipu_mlir.dialects.analysis.variables import variable_arguments, variables_in
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr, module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import diagnostic_at
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.placement.partition.choice_of_ipus import best_of, estimates
from ipu_mlir.passes.placement.partition.function_parts import Boundary, FunctionPartition, TooSlow
from ipu_mlir.passes.placement.partition.placeable import refuse_unplaceable
from ipu_mlir.passes.placement.partition.proportions import MemoryProportions, proportions_of
from ipu_mlir.passes.placement.planner.balanced import Balanced
from ipu_mlir.passes.placement.planner.candidates import Candidate
from ipu_mlir.passes.placement.planner.explain import explain
from ipu_mlir.passes.placement.planner.fastest import Fastest
from ipu_mlir.passes.placement.planner.operation import InSteps, Operation, Planner
from ipu_mlir.passes.support.malformed import refuse_malformed
from ipu_mlir.passes.support.placement_hints import MAP
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import view_of
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


@dataclass(frozen=True)
class Partition(Pass):
    """Cut every structured op into parts and choose a home for every tensor.

    Where parts cut a reduced loop, the op becomes two: partial results, and the op that combines them
    (``split_reduction.py``). An op that needs too much memory at once becomes several (``reduction_steps.py``).

    Ops that take at most half of the tiles begin where their operands do, or what is used with their results, or else
    behind the last such op (``first_tiles.py``): those that have nothing to do with each other run at the same time.
    Four short ops or more that are the last on tensors of their own, as updates of weights, share out the tiles of an
    IPU (``apart.py``; by ``fastest`` only).

    A loop of little work lies on one tile, which runs it as one vertex (``ipu-form-vertex-loops``), where that takes
    fewer cycles than supersteps on many, as far as can be estimated (``one_tile_loops.py``; by ``fastest`` only).

    Options: ``plan``, how parts are chosen: ``fastest`` by estimated cycles within the memory of a tile, ``balanced``
    by equal parts. ``grain``, the bytes at whose multiples the fastest dimension of a result is cut.
    ``available-memory-proportion``, the share of a tile's memory that operands brought to it and partial results of one
    op may take; ``matmul-memory-proportion`` and ``conv-memory-proportion`` for those ops. A function that has the
    attribute ``ipu.available_memory_proportion`` goes by that, and an op with the innermost scope
    ``ipu.available_memory_proportion.0.4`` in its name by that. ``most-partials``, the most partial results that a
    reduction may be split into, 1 for none. ``ipus``, the number of IPUs that ops of a program without shards take, or
    as few as have room; without it the planner compares several. ``explain`` prints to stderr what was considered.
    Python users may give another ``planner``, a function from an ``Operation`` and a ``Target`` to ``Parts``. A
    variable lies in one place for all functions, which the largest of them decides.

    Needs:  linalg on tensors with static shapes, views with evenly spaced elements (``ipu-materialize-views``), and one
            user per fill (``ipu-split-fills``). All that cannot be placed is refused at once (``placeable.py``).
    Leaves: ``ipu.parts`` on every structured op, ``ipu.map`` on arguments, constants and the empty tensors that no
            structured op fills, and on variables. Hints that stand there already are honoured, or refused with a
            reason.
    """

    name = "ipu-partition"

    plan: Literal["fastest", "balanced"] = "fastest"
    grain: int = 8
    available_memory_proportion: float = 0.6
    matmul_memory_proportion: float | None = None
    conv_memory_proportion: float | None = None
    most_partials: int | None = None
    ipus: int | None = None
    explain: bool = False
    planner: Planner | None = None

    def run(self, module: ir.Operation) -> None:
        planner = self._planner()
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            if _is_refused(module, refuse):
                return
            target = module_target(module)
            self._cut(module, planner, target, self._number_of_ipus(module, target), refuse)

    def chooses_ipus(self, module: ir.Operation) -> bool:
        """True if several numbers of IPUs may be tried for ``module``: it has no shards."""
        target = module_target(module)
        if target.ipus == 1 or target.io_tiles or not isinstance(self._planner(), Fastest):
            return False
        return not any(shard_of(op) is not None or argument_shards(op) for op in list_ops(module))

    def estimated(self, module: ir.Operation, count: int, limit: int | None) -> tuple[bool, int]:
        """Cut ``module``, which nobody needs as it is, on ``count`` IPUs: whether it is refused, and its cycles.

        Cycles above ``limit`` are those that it takes at least; not all of it is cut then.
        """
        planner, refuse = self._planner(), _Unsaid()
        quiet = replace(planner, listener=None) if isinstance(planner, Fastest) else planner
        with module.context, ir.Location.unknown():
            try:
                refused = _is_refused(module, refuse)
                cycles = 0 if refused else self._cut(module, quiet, module_target(module), count, refuse, limit)
            except TooSlow as slow:
                return False, slow.cycles
            return bool(refuse.diagnostics), cycles

    def _number_of_ipus(self, module: ir.Operation, target: Target) -> int | None:
        """How many IPUs the program takes, if that is up to the compiler.

        An op that takes as many as are best for it alone makes others fetch what it made; so whole programs are
        compared, in which each op takes so many, or as few as have room.
        """
        if not self.chooses_ipus(module):
            return None
        if self.ipus is not None:
            return min(self.ipus, target.ipus)
        return best_of(estimates(module, target, lambda count, limit: self.estimated(module.clone(), count, limit)))

    def _cut(
        self,
        module: ir.Operation,
        planner: Planner,
        target: Target,
        most_ipus: int | None,
        refuse: Refusals,
        limit: int | None = None,
    ) -> int:
        """Decide for all functions; gives the estimated cycles of those that no other one calls.

        Raises:
            TooSlow: one of them takes more than ``limit``.
        """
        variables = variables_in(module)
        called: dict[str, Boundary] = {}
        functions = [op for op in list_ops(module, "func.func") if len(op.regions[0].blocks)]
        calls = calls_by_callee(module)
        for function in callees_first(_by_say(functions)):
            _hint_variables(function, variables)
            proportions = proportions_of(function, self._proportions(), refuse)
            if carried := _carried(calls.get(symbol_of(function), [])):
                quiet = replace(planner, listener=None) if isinstance(planner, Fastest) else planner
                trial = module.clone()
                copy = next(op for op in list_ops(trial, "func.func") if symbol_of(op) == symbol_of(function))
                tried = FunctionPartition(copy, quiet, target, proportions, _Unsaid(), called, most_ipus)
                _hint_carried(function, carried, tried.run().results)
            partition = FunctionPartition(function, planner, target, proportions, refuse, called, most_ipus, limit)
            called[symbol_of(function)] = partition.run()
            for number, name in variable_arguments(function).items():
                variables[name].attributes[MAP] = function.attributes["arg_attrs"][number][MAP]
        callees = {callee_of(call) for call in list_ops(module, "func.call")}
        return sum(boundary.cycles for name, boundary in called.items() if name not in callees)

    def _planner(self) -> Planner:
        if self.planner is not None:
            return self.planner
        if self.plan == "balanced":
            return Balanced(self.grain)
        return Fastest(self.grain, self.most_partials, _print_decision if self.explain else None)

    def _proportions(self) -> MemoryProportions:
        every = self.available_memory_proportion
        matmul, conv = self.matmul_memory_proportion, self.conv_memory_proportion
        return MemoryProportions(every, every if matmul is None else matmul, every if conv is None else conv)


class _Unsaid(Refusals):
    """Refusals of what is only tried."""

    def at(self, location: Any, message: str) -> None:
        self.diagnostics.append(diagnostic_at(location, message))


def _is_refused(module: ir.Operation, refuse: Refusals) -> bool:
    """True if some of ``module`` cannot be placed, which ``refuse`` is told."""
    refuse_malformed(module, refuse)
    for function in list_ops(module, "func.func"):
        if len(function.regions[0].blocks):
            refuse_unplaceable(function, refuse)
    return bool(refuse.diagnostics)


def _by_say(functions: list[ir.Operation]) -> list[ir.Operation]:
    """``functions``, those with more ops first: where a variable lies is decided in the first that has it."""
    return sorted(functions, key=lambda function: -len(list_ops(function)))


def _hint_variables(function: ir.Operation, variables: dict[str, ir.Operation]) -> None:
    """Tell ``function`` where the variables among its arguments lie, as far as that is decided."""
    named = variable_arguments(function)
    if not named:
        return
    hints = value_attributes(function, "arg_attrs")
    for number, name in named.items():
        if MAP in variables[name].attributes:
            hints[number][MAP] = variables[name].attributes[MAP]
    set_value_attributes(function, "arg_attrs", hints)


def _carried(calls: list[ir.Operation]) -> dict[int, int]:
    """The arguments of a function that most of its ``calls`` give a result of the call before, with its number."""
    own = set(calls)
    found = Counter(
        (number, root.result_number)
        for call in calls
        for number, value in enumerate(call.operands)
        if isinstance(value.type, ir.RankedTensorType)
        for root, view in [view_of(value) or (value, None)]
        if view is not None and view.is_whole() and defining_op(root, "func.call") in own
    )
    return {number: result for (number, result), times in found.items() if 2 * times > len(calls)}


def _hint_carried(function: ir.Operation, carried: dict[int, int], results: list[Mapping | None]) -> None:
    """Tell ``function`` that arguments lie where results do, so that calls behind each other move nothing."""
    hints = value_attributes(function, "arg_attrs")
    for number, result in carried.items():
        home = results[result]
        if home is not None:
            hints[number].setdefault(MAP, mapping_to_attr(home))
    set_value_attributes(function, "arg_attrs", hints)


def _print_decision(operation: Operation, candidates: list[Candidate], chosen: Candidate | InSteps) -> None:
    print(explain(operation, candidates, chosen), file=sys.stderr)
