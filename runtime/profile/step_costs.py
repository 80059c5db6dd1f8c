"""Costs of one execution of a step, from its op alone."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ipu_mlir.dialects.analysis.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.analysis.collectives import MERGED
from ipu_mlir.dialects.analysis.host_calls import host_call_of
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.memory_access import memory_accesses
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.analysis.operand_types import dtype_of
from ipu_mlir.dialects.analysis.program.tree import Step
from ipu_mlir.dialects.analysis.remote import remote_buffer_around
from ipu_mlir.dialects.analysis.shards import LINKS
from ipu_mlir.dialects.analysis.vertex_loops import ONE_VERTEX, is_in_vertex
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.collectives import cost_of_collective
from ipu_mlir.dialects.costs.exchange import (
    all_sync_cycles,
    bytes_between_ipus,
    cost_of_exchange,
    host_read_cycles,
    host_write_cycles,
    streaming_cycles,
)
from ipu_mlir.dialects.costs.family import cycles_of_parts, cycles_within, distinct_sizes
from ipu_mlir.dialects.costs.flops import flops_of_parts
from ipu_mlir.dialects.costs.footprint import code_bytes, scratch_bytes, vertex_state_bytes
from ipu_mlir.dialects.costs.work import Contraction, Work
from ipu_mlir.dialects.machine.links import link_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.selection import physical_ipus
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.loops import BoolArray, IntArray
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.memory.exchange_code import ExchangeCode
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.execution import Io
from ipu_mlir.runtime.profile.target_facts import peak_type_of

_READ_AND_BRANCH = 2  # instructions of a worker


@dataclass(frozen=True, eq=False)
class VertexCost:
    """Costs of equal work cut into equal parts; arrays have one entry per part."""

    tiles: IntArray
    cycles: IntArray
    flops: int
    code_bytes: int
    state_bytes: int
    scratch_bytes: int


@dataclass(frozen=True, eq=False)
class FamilyCost:
    """One family of vertices.

    Attributes:
        op: the structured op that the vertices run.
        codelet: its name.
        vertex: cycles and bytes of the vertices.
        on_slowest: its cycles on the tile that is the slowest of the whole compute set; over the families of a compute
            set they add up to its cycles.
        data_bytes: operands and results, as far as the vertices touch them, on all tiles.
        peak_type: ``f8``, ``f16`` or ``f32``, by which peak its operations are measured.
        is_contraction: whether it can run at that peak.
    """

    op: ir.Operation
    codelet: str
    vertex: VertexCost
    on_slowest: int
    data_bytes: int
    peak_type: str
    is_contraction: bool


@dataclass(frozen=True, eq=False)
class StepCost:
    """Cycles and bytes of one execution of a step; ``busy`` is for how many cycles each tile works or moves data."""

    busy: IntArray
    compute: int = 0
    exchange: int = 0
    inter_ipu: int = 0
    sync: int = 0
    host: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0
    bytes_received_worst: int = 0
    families: tuple[FamilyCost, ...] = ()
    links: BoolArray | None = None
    """Of each IPU, whether it takes part in what goes over the links; None where nothing does."""
    io: Io | None = None
    """``alone`` if I/O tiles run it while the others go on, ``meets`` if all meet in it; None where all keep step."""
    io_ipus: tuple[int, ...] = ()
    """The IPUs whose I/O tiles do."""
    exchange_op: ir.Operation | None = None
    """An exchange between tiles that takes this."""

    def times(self, ipus: int) -> "StepTimes":
        """The cycles of each IPU in it."""
        worst = self.busy.reshape(ipus, -1).max(axis=1)
        at_work = (worst > 0) if self.families else np.full(ipus, self.meets)
        nothing = np.zeros(ipus, dtype=np.int64)
        return StepTimes(
            compute=worst if self.families else nothing,
            exchange=nothing if self.families else worst,
            inter_ipu=nothing if self.links is None else self.inter_ipu * self.links,
            sync=self.sync * at_work,
            host=nothing + self.host,
        )

    @property
    def cycles(self) -> int:
        """Of the slowest tile."""
        return self.compute + self.exchange + self.inter_ipu + self.sync + self.host

    @property
    def meets(self) -> bool:
        """True if all IPUs begin it together."""
        return not self.families and bool(self.sync or self.host)

    @cached_property
    def balance(self) -> float:
        """Mean over all tiles by the busiest; 0 where none is busy."""
        most = int(self.busy.max(initial=0))
        return float(self.busy.mean()) / most if most else 0.0

    @cached_property
    def active_tiles(self) -> int:
        return int(np.count_nonzero(self.busy))


@dataclass(frozen=True, eq=False)
class StepTimes:
    """Cycles of each IPU in one execution of a step, arrays of shape ``(ipus,)``."""

    compute: IntArray
    exchange: IntArray
    inter_ipu: IntArray
    sync: IntArray
    host: IntArray


class StepCosts:
    """Costs on one target; equal work cut into equal parts is looked at once."""

    def __init__(self, target: Target, program: Iterable[Step] = (), ipus: int | None = None) -> None:
        """Costs of the steps of ``program``, whose queues are on I/O tiles if all that goes through them is.

        Args:
            ipus: those that wait for each other where all do; None for all of ``target``.
        """
        self._target = target
        self._ipus = ipus or target.ipus
        self._queues: dict[str, list[tuple[int, ...]]] = {}
        for step in program if target.io_tiles else ():
            if step.kind == "host_exchange" and (call := host_call_of(step.op)) is not None and len(step.op.operands):
                self._queues.setdefault(call.symbol_of(step.op), []).append(self._on_io(step.op.operands))
        self._machine = machine_of(target)
        self._vertices: dict[tuple[Work, Parts, int, bool], VertexCost] = {}
        self._sizes: dict[Mapping, int] = {}
        self._exchanges: dict[tuple[ir.Type, ir.Type, int], StepCost] = {}
        self._exchange_code = ExchangeCode(target)
        self._loads: dict[ir.Operation, tuple[IntArray, IntArray]] = {}
        """By an exchange that shares a sync, ``bytes_between_ipus`` of those before it together, and with it."""
        self._idle = np.zeros(target.num_tiles, dtype=np.int64)

    def of(self, step: Step) -> StepCost:
        """The costs of one execution of ``step``."""
        if step.kind == "compute":
            return self._compute_set(step.op)
        if step.kind == "exchange":
            source, dest = (operand.type for operand in step.op.operands)
            gathering = self._exchange_code.steering(step.op).cycles
            key = source, dest, id(gathering)  # one array for equal exchanges
            if key not in self._exchanges:
                self._exchanges[key] = self._exchange(step.op, gathering)
            found = self._exchanges[key]
            return self._merged(step.op, found) if MERGED in step.op.attributes else found
        if step.kind == "host_exchange":
            return self._host(step.op)
        if step.kind == "collective":
            received, cycles, sync = cost_of_collective(step.op, self._target)
            every = np.ones(self._target.ipus, dtype=np.bool_)
            return StepCost(
                self._idle, inter_ipu=cycles, links=every, sync=sync, bytes_sent=received, bytes_received=received
            )
        assert step.kind == "control", f"a step of kind {step.kind}"
        if ONE_VERTEX in step.op.attributes:
            return self._start(step.op)
        return self._branch(step.op) if is_in_vertex(step.op) else self._sync()

    def with_cost_of_chip(self, step: Step, found: StepCost) -> StepCost:
        """The costs of ``step`` where tiles of one chip take what they do in ``found``, which is of a like target."""
        if step.kind == "compute":
            return replace(found, sync=self._machine.sync_cycles if found.sync else 0)
        return found if step.kind == "exchange" and self._target.ipus == 1 else self.of(step)

    def _start(self, loop: ir.Operation) -> StepCost:
        """The one start, and the one sync, of a loop that is a vertex."""
        tile = ir.IntegerAttr(loop.attributes[ONE_VERTEX]).value
        return self._control(loop, "loop", tile, self._machine.start_cycles, self._machine.sync_cycles)

    def _branch(self, op: ir.Operation) -> StepCost:
        """A vertex reads what its control flow goes by."""
        mapping = memory_mapping(op.operands[0].type)
        assert mapping is not None, "buffers of supersteps lie somewhere"
        return self._control(op, "branch", mapping.min_tile, self._machine.workers * _READ_AND_BRANCH)

    def _control(self, op: ir.Operation, codelet: str, tile: int, cycles: int, sync: int = 0) -> StepCost:
        """A vertex on ``tile`` does what is no work on elements."""
        busy = self._idle.copy()
        busy[tile] = cycles
        vertex = VertexCost(np.array([tile]), np.array([cycles]), 0, 0, 0, 0)
        return StepCost(
            busy, cycles, sync=sync, families=(FamilyCost(op, codelet, vertex, cycles, 0, "f32", is_contraction=False),)
        )

    def _sync(self) -> StepCost:
        return StepCost(self._idle, sync=all_sync_cycles(self._ipus, self._machine))

    def _host(self, op: ir.Operation) -> StepCost:
        """Data comes from the host or goes there; without any, it is the sync in which the IPUs and the host agree.

        Rows come from or go to memory off the chip, or on the host, with the sync that such a copy has.
        """
        call = host_call_of(op)
        assert call is not None, "a step of the host has a call of it"
        if not len(op.operands):
            of_queue = self._queues.get(call.symbol_of(op), [])
            ipus = sorted({ipu for each in of_queue for ipu in each}) if all(of_queue) else ()
            return replace(self._sync(), io="alone" if ipus else None, io_ipus=tuple(ipus))
        filled = call.filled_by(op)
        taken, given = (
            bytes_per_ipu([value.type for value in values], self._target)
            for values in ([] if filled is None else [filled], call.read_by(op))
        )
        replicas = self._target.replicas
        if call.server == "remote" and remote_buffer_around(op).memory == "streaming":
            cycles = streaming_cycles(int(taken.max() + given.max()), self._machine)
        else:
            cycles = host_write_cycles(taken, replicas, self._machine) + host_read_cycles(
                given, replicas, self._machine
            )
        sync = all_sync_cycles(self._ipus, self._machine) if call.server == "remote" else 0
        moved = call.read_by(op) if filled is None else [filled]
        ipus = self._on_io(moved)
        return StepCost(self._idle, host=cycles, sync=sync, io="alone" if ipus else None, io_ipus=ipus)

    def _on_io(self, buffers: Iterable[ir.Value]) -> tuple[int, ...]:
        """The IPUs whose I/O tiles hold one of ``buffers``."""
        if not self._target.io_tiles:
            return ()
        each_ipu = self._target.tiles_per_ipu
        first = each_ipu - self._target.io_tiles
        mappings = [memory_mapping(each.type) for each in buffers if isinstance(each.type, ir.MemRefType)]
        found: set[int] = set()
        for mapping in mappings:
            if mapping is not None and mapping.max_tile >= first:
                tiles = mapping.elements_per_tile()[0]
                found.update((tiles[tiles % each_ipu >= first] // each_ipu).tolist())
        return tuple(sorted(found))

    def _exchange(self, op: ir.Operation, gathering: IntArray) -> StepCost:
        """``gathering`` is what tiles need to gather messages and to spread them."""
        cost, ipus = cost_of_exchange(op, self._target), self._on_io(op.operands)
        busy = cost.busy_cycles + gathering
        return StepCost(
            busy=busy,
            exchange=int(busy.max(initial=0)),
            inter_ipu=cost.inter_ipu_cycles,
            links=cost.bytes_from_other_ipus + cost.bytes_to_other_ipus > 0 if cost.sync_cycles else None,
            sync=cost.sync_cycles,
            bytes_sent=cost.bytes_sent,
            bytes_received=cost.bytes_received,
            bytes_received_worst=cost.bytes_received_worst,
            io="meets" if ipus else None,
            io_ipus=ipus,
            exchange_op=op,
        )

    def _merged(self, op: ir.Operation, alone: StepCost) -> StepCost:
        """``op`` with those whose sync it shares: what it adds to the cycles of the links that they use together."""
        if op not in self._loads:
            loads = np.zeros((self._target.ipus, self._target.ipus), dtype=np.int64)
            for each in op.block.operations:
                if each.operation.name == "ipu.exchange" and LINKS in each.attributes:
                    before = loads if MERGED in each.attributes else np.zeros_like(loads)
                    loads = before + bytes_between_ipus(each.operation, self._target)
                    self._loads[each.operation] = before, loads
        less, more = (link_cycles(each, physical_ipus(self._target), self._machine) for each in self._loads[op])
        return replace(alone, sync=0, inter_ipu=min(alone.inter_ipu, more - less))

    def _compute_set(self, op: ir.Operation) -> StepCost:
        ops = [family.operation for family in op.regions[0].blocks[0].operations]
        is_within = is_in_vertex(op)
        vertices = [self._read(family, is_within) for family in ops]
        busy = np.zeros(self._target.num_tiles, dtype=np.int64)
        for vertex, *_ in vertices:
            busy[vertex.tiles] += vertex.cycles
        slowest = int(busy.argmax()) if len(busy) else 0
        families = []
        for family, (vertex, work, data_bytes, peak_type) in zip(ops, vertices, strict=True):
            families.append(
                FamilyCost(
                    op=family.regions[0].blocks[0].operations[0].operation,
                    codelet=ir.StringAttr(family.attributes["codelet"]).value,
                    vertex=vertex,
                    on_slowest=int(vertex.cycles[vertex.tiles == slowest].sum()),
                    data_bytes=data_bytes,
                    peak_type=peak_type,
                    is_contraction=isinstance(work, Contraction),
                )
            )
        return StepCost(
            busy,
            compute=int(busy[slowest]),
            sync=0 if is_within else self._machine.sync_cycles,
            families=tuple(families),
        )

    def _read(self, family: ir.Operation, is_within: bool) -> tuple[VertexCost, Work, int, str]:
        op = family.regions[0].blocks[0].operations[0].operation
        nest = loop_nest(op)
        assert nest is not None, "vertices hold an op with a loop nest, says their verifier"
        work, parts = classify(op, nest), parts_from_attr(family.attributes["parts"])
        key = work, parts, len(op.operands), is_within
        if key not in self._vertices:
            self._vertices[key] = self._vertex(*key)
        dtype = work.dtype if isinstance(work, Contraction) else dtype_of(op, 0)
        return self._vertices[key], work, self._data_bytes(op, nest, parts), peak_type_of(dtype)

    def _vertex(self, work: Work, parts: Parts, operands: int, is_within: bool) -> VertexCost:
        """Costs of the vertices of ``work``, which a loop that is a vertex may do within itself."""
        sizes, number = distinct_sizes(parts)
        if is_within:
            cycles = cycles_within(work, sizes, self._machine)[number]
        else:
            cycles = self._machine.start_cycles + cycles_of_parts(work, parts, self._machine)
        return VertexCost(
            tiles=parts.tiles(),
            cycles=cycles,
            flops=flops_of_parts(work, parts),
            code_bytes=code_bytes(work),
            state_bytes=int(vertex_state_bytes(work, sizes, operands, self._machine)[number].sum()),
            scratch_bytes=int(scratch_bytes(work, sizes, self._machine)[number].max(initial=0)),
        )

    def _data_bytes(self, op: ir.Operation, nest: LoopNest, parts: Parts) -> int:
        total = 0
        for access in memory_accesses(op, nest):
            memref = ir.MemRefType(access.value.type)
            mapping = memory_mapping(memref)
            assert mapping is not None, "what vertices touch lies on tiles, says their verifier"
            strides, offset = strides_and_offset(memref)
            touched = operand_mapping(parts, access.indices, memref.shape, strides, offset, mapping.elements)
            total += self._size(touched) * element_bytes(memref.element_type)
        return total

    def _size(self, mapping: Mapping) -> int:
        """Elements on all tiles together."""
        if mapping not in self._sizes:
            self._sizes[mapping] = int(mapping.elements_per_tile()[1].sum())
        return self._sizes[mapping]


def bytes_per_ipu(types: Iterable[ir.Type], target: Target) -> IntArray:
    """Bytes that the tiles of each IPU hold of buffers of these types, shape ``(ipus,)``."""
    held = np.zeros(target.ipus, dtype=np.int64)
    for memref in types:
        mapping = memory_mapping(memref) if isinstance(memref, ir.MemRefType) else None
        if mapping is not None:
            tiles, counts = mapping.elements_per_tile()
            size = element_bytes(ir.MemRefType(memref).element_type)
            np.add.at(held, tiles // target.tiles_per_ipu, counts * size)
    return held
