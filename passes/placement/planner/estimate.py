"""Costs of a grid: cycles of the vertices, of bringing operands, of combining partial results; and bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.exchange import cycles_for_bytes
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.costs.footprint import scratch_bytes
from ipu_mlir.dialects.costs.moves import fill_cycles
from ipu_mlir.dialects.costs.work import Reduction, Work
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import product_over
from ipu_mlir.dialects.mapping.loops import IntArray

BoolArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Brought:
    """Elements that come to the fullest tile for each input, shape ``(grids, inputs)``.

    Attributes:
        moved: that come from other tiles.
        held: that the operand on the tile then has, with what was there already.
        sent: that the tile with most of them may have to send.
    """

    moved: IntArray
    held: IntArray
    sent: IntArray

    @staticmethod
    def of_all(elements: IntArray, inputs: Sequence["Operand"]) -> "Brought":
        """As if all of ``elements`` came from elsewhere."""
        sent = np.where(elements > 0, np.array([each.sent for each in inputs], dtype=np.int64), 0)
        return Brought(elements.copy(), elements.copy(), sent)

    @property
    def columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """All of it."""
        return self.moved, self.held, self.sent

    def replace(self, grid: int, number: int, moved: int, held: int) -> None:
        """So many are moved and held of an input by one of the grids; where some lie there already, others send few."""
        self.moved[grid, number], self.held[grid, number] = moved, held
        if moved < held or not held:
            self.sent[grid, number] = moved


@dataclass(frozen=True)
class Operand:
    """As much of an operand as its cost takes.

    Attributes:
        indices: per dimension, in terms of the loops.
        shape: of the operand.
        element_bytes: of one element.
        placed: whether it lies somewhere already; another one is put where the first op needs it, if that is possible.
        sent: elements that the fullest tile holds, all of which it may have to send; 0 if that is not known.
        shifts: the number of inputs that show one allocation and differ only in where they begin, of which this one
            stands for all; 0 if it is another one of them.
        spans: of the shifts per dimension, the distance from the first to the last.
    """

    indices: tuple[Index, ...]
    shape: tuple[int, ...]
    element_bytes: int
    placed: bool
    sent: int = 0
    shifts: int = 1
    spans: tuple[int, ...] = ()

    def elements(self, blocks: IntArray) -> IntArray:
        """Elements that one part of each grid touches: through all shifts, one by one or in a box around them."""
        total = np.ones(len(blocks), dtype=np.int64)
        around = total
        for index, size, span in zip(self.indices, self.shape, self.spans or (0,) * len(self.shape), strict=True):
            reach = self._reach(index, size, blocks)
            total, around = total * reach, around * (reach + span)
        return np.minimum(self.shifts * total, around)

    @staticmethod
    def _reach(index: Index, size: int, blocks: IntArray) -> IntArray:
        """Over how much of a dimension one part of each grid reaches."""
        if not index.linear:
            return np.full(len(blocks), size)
        if (plain := index.plain_loop) is not None:
            return np.minimum(size, blocks[:, plain])
        steps = [(loop, abs(step)) for loop, step in enumerate(index.coefficients) if step]
        return np.minimum(size, 1 + sum(step * (blocks[:, loop] - 1) for loop, step in steps))

    @cached_property
    def loops(self) -> tuple[int, ...]:
        """The loops that say which elements a part touches; a dimension with another index is touched whole by all."""
        linear = [index for index in self.indices if index.linear]
        return tuple(sorted({loop for index in linear for loop, c in enumerate(index.coefficients) if c}))


@dataclass(frozen=True)
class Question:
    """An operation as far as its grids differ in cost; equal questions have equal answers.

    Attributes:
        extents: iterations per loop.
        cuttable: the loops that may be cut, those that are reduced included if there may be partial results.
        reduced: which of them are reduced: cutting one leaves partial results.
        grains: per loop, the multiple at which it is cut.
        num_tiles: the most parts.
        reach: in each dimension of the first output, how far later ops reach over what a part has of it.
        beside_bytes: of what lies on each tile besides, as the operands of which a step takes slices.
        most_partials: the most partial results of one element, 1 for none.
        temporary_bytes: what operands brought to a tile and partial results may take there.
    """

    work: Work
    extents: tuple[int, ...]
    cuttable: tuple[int, ...]
    reduced: tuple[int, ...]
    grains: tuple[int, ...]
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    num_tiles: int
    temporary_bytes: int
    machine: Machine
    reach: tuple[int, ...] = ()
    beside_bytes: int = 0
    most_partials: int = 1 << 62

    def partials(self, blocks: IntArray) -> IntArray:
        """The number of partial results of each element that the grids ``blocks`` leave, shape ``(grids,)``."""
        return product_over(-(-np.array(self.extents, dtype=np.int64) // blocks), self.reduced)


@dataclass(frozen=True, eq=False)
class Estimate:
    """The costs of many grids; arrays of shape ``(grids,)``.

    Attributes:
        compute: cycles of the largest part.
        brought: cycles of the exchange that brings operands; neighbours that need the same receive it twice as fast.
        combined: cycles of combining partial results: their zeros, their exchange, and the second compute set with its
            sync.
        temporary: bytes that operands that are brought, and partial results, take on the fullest tile.
        resident: bytes of all that the largest part works on: its pieces of the operands and of the results, and what
            its vertex needs besides.
        fastest: the loop in which neighbouring tiles differ.
        later: cycles of the exchange that brings what lies around a part's results, for ops that reach over it.
    """

    compute: IntArray
    brought: IntArray
    combined: IntArray
    temporary: IntArray
    resident: IntArray
    fastest: IntArray
    later: IntArray

    @cached_property
    def total(self) -> IntArray:
        """Cycles in all."""
        return self.compute + self.brought + self.combined + self.later


def estimate(
    question: Question, blocks: IntArray, brought: Brought | None = None, fastest: IntArray | None = None
) -> Estimate:
    """Costs of the grids ``blocks``, shape ``(grids, loops)``.

    Args:
        brought: what comes to a tile for each input. Without it, those that are placed are assumed to lie elsewhere,
            and the others where the parts need them, if each part has its own.
        fastest: the loop in which neighbouring tiles differ, shape ``(grids,)``; -1 where it is not known. Without it,
            the best one.
    """
    machine = question.machine
    counts = -(-np.array(question.extents, dtype=np.int64) // blocks)
    compute = cycles_of(question.work, blocks, machine)
    moved_bytes = np.zeros(len(blocks), dtype=np.int64)
    held_bytes = np.zeros(len(blocks), dtype=np.int64)
    sent_bytes = np.zeros(len(blocks), dtype=np.int64)
    resident = scratch_bytes(question.work, blocks, machine).copy()
    shared = np.zeros((len(blocks), len(question.extents) + 1), dtype=np.int64)
    for each in (*question.inputs, *question.outputs):
        resident += each.elements(blocks) * each.element_bytes
    brought = brought or _from_elsewhere(question, blocks)
    for number, operand in enumerate(question.inputs):
        moved, held, sent = (each[:, number] * operand.element_bytes for each in brought.columns)
        moved_bytes += moved
        held_bytes += held
        sent_bytes += sent
        for loop in question.cuttable:
            if loop not in operand.loops:
                shared[:, loop] += np.where(counts[:, loop] % 2 == 0, moved, 0)
    if fastest is None:
        cut = counts > 1
        last = len(question.extents) - 1 - np.argmax(cut[:, ::-1], axis=1) if question.extents else 0
        found = np.argmax(shared[:, :-1], axis=1) if question.extents else 0
        fastest = np.where(shared.max(axis=1) > 0, found, last)
    at_once = shared[np.arange(len(blocks)), fastest] // machine.tiles_per_shared_bus
    saved = at_once if machine.tiles_per_shared_bus == 2 else 0
    exchange = cycles_for_bytes(moved_bytes - saved, sent_bytes, machine)
    combined, partial_bytes = _combination(question, blocks)
    later = _edges(question, blocks)
    return Estimate(compute, exchange, combined, held_bytes + partial_bytes, resident, fastest, later)


def _edges(question: Question, blocks: IntArray) -> IntArray:
    """Cycles of bringing what lies around the results of a part, as far as later ops reach."""
    if not question.reach:
        return np.zeros(len(blocks), dtype=np.int64)
    result = question.outputs[0]
    around = replace(result, shifts=2 ** len(question.reach), spans=question.reach).elements(blocks)
    edge = (around - result.elements(blocks)) * result.element_bytes
    return cycles_for_bytes(edge, edge, question.machine)


def _from_elsewhere(question: Question, blocks: IntArray) -> Brought:
    """What is brought if those inputs that are placed lie elsewhere, and the others where each part has its own."""
    counts = -(-np.array(question.extents, dtype=np.int64) // blocks)
    brought = np.zeros((len(blocks), len(question.inputs)), dtype=np.int64)
    for number, operand in enumerate(question.inputs):
        others = [loop for loop in range(len(question.extents)) if loop not in operand.loops]
        comes = operand.placed | (product_over(counts, others) > 1)
        brought[:, number] = np.where(comes, operand.elements(blocks), 0)
    return Brought.of_all(brought, question.inputs)


def fits(question: Question, found: Estimate) -> BoolArray:
    """The grids that stay within what the operation may take for a while, and within the memory of a tile."""
    room = question.machine.bytes_per_tile - question.beside_bytes
    return (found.temporary <= question.temporary_bytes) & (found.resident <= room)


def _combination(question: Question, blocks: IntArray) -> tuple[IntArray, IntArray]:
    """Cycles of combining partial results, and the bytes of those that one tile receives."""
    partials = question.partials(blocks)
    machine = question.machine
    cycles = np.zeros(len(blocks), dtype=np.int64)
    size = np.zeros(len(blocks), dtype=np.int64)
    if (partials == 1).all():
        return cycles, size
    for result in question.outputs:
        elements = int(np.prod(result.shape, dtype=np.int64))
        here = -(-elements // question.num_tiles)  # of the results, spread over all tiles
        received = partials * here * result.element_bytes
        sizes = np.stack([np.full_like(partials, here), partials], axis=-1)
        dtype = "f32" if result.element_bytes >= 4 else "f16"
        add = Reduction(dtype, dtype, (0,), (1,), False, (), ScalarOp(Shape.BINARY, "add", dtype))
        own = result.elements(blocks)  # which begin as zeros
        cycles += cycles_for_bytes(received, received, machine) + cycles_of(add, sizes, machine)
        cycles += fill_cycles(own, dtype, machine)
        size += received + own * result.element_bytes
    split = partials > 1
    return np.where(split, cycles + machine.start_cycles + machine.sync_cycles, 0), np.where(split, size, 0)
