"""``ipu.compute_set``: all vertices of its families run, each alone on its tile."""

from collections.abc import Callable

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.memory.holdings import Box, vertex_boxes
from ipu_mlir.runtime.per_tile.memory.keeping import Budget, Kept
from ipu_mlir.runtime.per_tile.program.run_state import Machine
from ipu_mlir.runtime.per_tile.vertices.family import Bound, Family
from ipu_mlir.runtime.per_tile.vertices.races import AccessLog
from ipu_mlir.runtime.per_tile.vertices.run_vertices import Vertex, refuse_constants
from ipu_mlir.runtime.per_tile.vertices.vertex_plan import Limits, VertexPlan, plan_vertex

LIMITS = Limits()


class ComputeSet:
    """A compute set; reads its families when it runs for the first time."""

    def __init__(self, op: ir.OpView, slot_of: Callable[[ir.Value], int], budget: Budget) -> None:
        self._op = op
        self._slot_of = slot_of
        self._budget = budget
        self._place = place_of(op.location)
        self._families: list[FamilyRuns] | None = None

    def run(self, machine: Machine) -> None:
        """Run all families at once.

        Raises:
            RunError: a vertex does what a machine could not do.
        """
        if self._families is None:
            operations = self._op.regions[0].blocks[0].operations
            self._families = [FamilyRuns(op, self._slot_of, self._budget) for op in operations]
        log = AccessLog(len(self._families))
        for family in self._families:
            family.run(machine, log)
        machine.record_step(self._place)


class FamilyRuns:
    """A family of vertices, and the plans of those that have run before."""

    def __init__(self, op: ir.OpView, slot_of: Callable[[ir.Value], int], budget: Budget) -> None:
        self.family = Family(op)
        self._operands = tuple(slot_of(operand.value) for operand in self.family.operands)
        self._captures = tuple(slot_of(value) for _, value in self.family.body.captures)
        boxes = vertex_boxes(self.family.parts)
        self._vertices: list[tuple[int, Box, Kept[VertexPlan]]] = [(*vertex, Kept(budget)) for vertex in boxes]

    def run(self, machine: Machine, log: AccessLog) -> None:
        """Run every vertex.

        Raises:
            RunError: a vertex touches what is not on its tile, was never written, or is raced for.
        """
        family, number = self.family, log.start_family(self.family.location)
        values, memories = machine.values, machine.memories
        bound = Bound(tuple(values[slot] for slot in self._operands), tuple(values[slot] for slot in self._captures))
        refuse_constants(family, bound)
        key = bound.key()
        for tile, box, kept in self._vertices:
            if tile >= memories.num_tiles:
                raise RunError(
                    f"{place_of(family.location)}: a vertex lies on tile {tile}, "
                    f"but the target has tiles 0 to {memories.num_tiles - 1}"
                )
            if not all(box):
                continue
            vertex = Vertex(family, bound, number, tile, memories, log, machine.strict)
            if family.library_call is None:
                vertex.run(kept.get(key, lambda at=(tile, box): plan_vertex(family, bound, *at, memories, LIMITS)))
            else:
                vertex.run_codelet(box)
