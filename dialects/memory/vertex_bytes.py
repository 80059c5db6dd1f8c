"""Code, state and scratch of vertices on every tile."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.program.tree import Step
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.costs.classify import work_of
from ipu_mlir.dialects.costs.family import distinct_sizes
from ipu_mlir.dialects.costs.footprint import code_bytes, scratch_bytes, vertex_state_bytes
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Gather, Move, Reduction, Window, Work
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.memory.per_tile import PerTile, total_of
from ipu_mlir.dialects.support.bindings import ir


@dataclass(frozen=True)
class FamilyBytes:
    """The bytes that the vertices of one family need besides their data.

    Attributes:
        code: what its codelet is, in terms of which two families share one copy of the code.
        code_bytes: of the codelet, once on every tile that runs it.
        state: bytes of the vertex on each tile.
        scratch: bytes that it needs while it runs.
    """

    code: Any
    code_bytes: int
    state: PerTile
    scratch: PerTile | None


class VertexSizes:
    """The bytes of vertices on a machine; families of equal work and parts share one answer."""

    def __init__(self, machine: Machine, num_tiles: int) -> None:
        self._machine = machine
        self._num_tiles = num_tiles
        self._known: dict[tuple[Work, Parts, int], FamilyBytes] = {}

    def of_step(self, compute_set: Step) -> list[FamilyBytes]:
        """Per family of vertices of a compute set."""
        return [self.of(family.operation) for family in compute_set.op.regions[0].blocks[0].operations]

    def of(self, vertices: ir.Operation) -> FamilyBytes:
        """The bytes of the ``ipu.vertices`` op."""
        op = vertices.regions[0].blocks[0].operations[0].operation
        work = work_of(op)
        assert work is not None, "vertices hold an op with a loop nest, says their verifier"
        key = (work, parts_from_attr(vertices.attributes["parts"]), len(op.operands))
        if key not in self._known:
            self._known[key] = self._measured(*key)
        return self._known[key]

    def _measured(self, work: Work, parts: Parts, operands: int) -> FamilyBytes:
        sizes, number = distinct_sizes(parts)
        state = vertex_state_bytes(work, sizes, operands, self._machine)
        scratch = scratch_bytes(work, sizes, self._machine)
        tiles = parts.tiles()
        return FamilyBytes(
            code_identity(work),
            code_bytes(work),
            PerTile.at(tiles, state[number], self._num_tiles),
            PerTile.at(tiles, scratch[number], self._num_tiles) if scratch.any() else None,
        )


def code_identity(work: Work) -> tuple[Any, ...]:
    """The key of the code of a vertex: its kind, operations and types, and not the sizes it runs on."""
    match work:
        case Contraction():
            return (Contraction, work.dtype, bool(work.kernel), tuple(each.ops for each in work.prepared))
        case Elementwise():
            return (Elementwise, work.ops, work.broadcast)
        case Reduction():
            return (Reduction, work.dtype, work.to_dtype, work.before, work.combine, work.continuous)
        case Window():
            return (Window, work.dtype, work.kind)
        case Gather():
            return (Gather, work.dtype, len(work.slices), work.ops)
        case CodeletCall():
            return (work.codelet, work.dtypes)
        case Move():
            return (Move, work.kind, work.dtype)


def code_of(families: Sequence[FamilyBytes], num_tiles: int) -> PerTile:
    """Bytes of code: every codelet once on each tile that has a vertex of it."""
    states: dict[Any, list[PerTile]] = {}
    sizes: dict[Any, int] = {}
    for family in families:
        states.setdefault(family.code, []).append(family.state)
        sizes[family.code] = family.code_bytes
    found = []
    for code, many in states.items():
        anywhere = total_of(list(dict.fromkeys(many)), num_tiles)  # a vertex has state wherever it is
        found.append(replace(anywhere, values=np.where(anywhere.values > 0, sizes[code], 0)))
    return total_of(found, num_tiles)
