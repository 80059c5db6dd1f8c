"""The planner that counts cycles, held to a search through all grids, and to what it says of itself."""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.family import cycles_of
from ipu_mlir.dialects.costs.moves import fill_cycles
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Reduction
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import by_rows, linear, one_tile
from ipu_mlir.dialects.mapping.parts import PartLoop
from ipu_mlir.passes.placement.planner.candidates import candidates_of
from ipu_mlir.passes.placement.planner.estimate import Operand, estimate, fits
from ipu_mlir.passes.placement.planner.explain import explain
from ipu_mlir.passes.placement.planner.fastest import Fastest, question_of
from ipu_mlir.passes.placement.planner.grids import parts_of_grid
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation
from ipu_mlir.passes.placement.planner.search import best_grids

ADD = ScalarOp(Shape.BINARY, "add", "f32")
TILES = Target(tiles_per_ipu=64)


def use(dimensions, extents, home=None):
    """An operand that has those loops as its dimensions, row-major."""
    shape = tuple(extents[d] for d in dimensions)
    strides = tuple(prod(shape[d + 1 :]) for d in range(len(shape)))
    indices = tuple(Index(tuple(int(loop == d) for loop in range(len(extents)))) for d in dimensions)
    return OperandUse(indices, shape, strides, 0, prod(shape), 4, home)


def matmul(m, n, k, homes=(None, None), **more):
    extents = (m, n, k)
    inputs = (use((0, 2), extents, homes[0]), use((2, 1), extents, homes[1]))
    work = Contraction("f32", (), (0,), (1,), (2,), ())
    more = {"splittable": True, "step_loops": (2,), "temporary_bytes": 383_385, **more}
    outputs = (use((0, 1), extents),)
    return Operation("linalg.matmul", "matmul_f32", extents, (True, True, False), inputs, outputs, work, **more)


def row_sum(rows, columns, home=None):
    extents = (rows, columns)
    work = Reduction("f32", "f32", (0,), (1,), True, (), ADD)
    inputs, outputs = (use((0, 1), extents, home),), (use((0,), extents),)
    return Operation("linalg.reduce", "reduce_f32", extents, (True, False), inputs, outputs, work, splittable=True)


def elementwise(extents, homes):
    inputs = tuple(use(range(len(extents)), extents, home) for home in homes)
    outputs = (use(range(len(extents)), extents),)
    return Operation("x", "x", extents, (True,) * len(extents), inputs, outputs, Elementwise((ADD,)))


def counts(parts):
    return parts.parts_per_loop


@pytest.mark.parametrize("sizes", [(64, 64, 64), (24, 40, 200), (8, 8, 1000), (300, 4, 30), (48, 48, 48)])
def test_no_grid_is_much_faster_than_the_one_that_is_found(sizes):
    question = question_of(matmul(*sizes), TILES, 8)
    every = [sorted({-(-extent // count) for count in range(1, 65)}) for extent in sizes]
    grids = np.array(list(product(*every)), dtype=np.int64)
    grids = grids[np.prod(-(-np.array(sizes) // grids), axis=1) <= 64]
    found = estimate(question, np.array([best_grids(question)[0][0]]))
    assert found.total[0] <= 1.1 * estimate(question, grids).total.min()


def test_a_long_sum_of_products_is_split():
    assert counts(Fastest()(matmul(8, 8, 4096), TILES))[2] > 8


def test_a_sum_is_not_split_where_there_may_be_no_partial_results():
    assert counts(Fastest()(matmul(8, 8, 4096, splittable=False), TILES))[2] == 1


@pytest.mark.parametrize("most", [1, 3, 8])
def test_no_more_partial_results_than_allowed(most):
    assert counts(Fastest(most_partials=most)(matmul(8, 8, 4096), TILES))[2] <= most
    home = linear(64 * 4096, 64)
    assert prod(counts(Fastest(most_partials=most)(row_sum(2, 131_072, home), TILES))[1:]) <= most


def test_partial_results_are_fewer_than_what_is_combined():
    home = by_rows((1, 64), 64)
    scattered = replace(row_sum(1, 64, home), temporary_bytes=1 << 30)
    assert counts(Fastest()(scattered, TILES))[1] <= 32


def test_sums_are_made_where_the_elements_lie():
    home = by_rows((64, 4096), 64)
    assert Fastest()(row_sum(64, 4096, home), TILES).loops == (PartLoop(1, 64, 1), PartLoop(4096, 4096, 0))


def test_elements_on_one_tile_stay_there_if_that_is_faster():
    few, many = elementwise((16,), (one_tile(16, 5),)), elementwise((65_536,), (linear(65_536, 64),))
    assert Fastest()(few, TILES).first_tile == 5
    assert Fastest()(many, TILES).num_parts == 64


def test_of_two_operands_the_larger_one_stays():
    extents = (256, 1024)
    operation = elementwise(extents, (by_rows(extents, 64), None))
    small = use((1,), extents, linear(1024, 64))
    operation = replace(operation, inputs=(small, operation.inputs[0]))
    assert Fastest()(operation, TILES).loops[0] == PartLoop(4, 256, 1)


def test_memory_decides_before_cycles():
    operation = matmul(256, 256, 256, step_loops=())
    free = Fastest()(operation, TILES)
    question = question_of(operation, TILES, 8)
    (chosen,) = candidates_of(operation, question, {free: "grid"})
    tight = replace(operation, temporary_bytes=chosen.temporary - 1)
    (other,) = candidates_of(tight, question_of(tight, TILES, 8), {Fastest()(tight, TILES): "grid"})
    assert other.fits and other.temporary < chosen.temporary and other.total >= chosen.total


def test_what_does_not_fit_runs_in_the_fewest_steps_that_fit():
    operation = matmul(512, 512, 512, temporary_bytes=20_000)
    steps = Fastest()(operation, TILES)
    assert isinstance(steps, InSteps) and steps.loop == 2

    def fit(block):
        step = replace(matmul(512, 512, block, (linear(512 * block, 64),) * 2), temporary_bytes=20_000)
        question = question_of(step, TILES, 8)
        return fits(question, estimate(question, np.array([best_grids(question)[0][0]]))).all()

    assert fit(steps.block) and not fit(2 * steps.block)


def test_nothing_fits_and_steps_do_not_help():
    parts = Fastest()(matmul(512, 512, 512, temporary_bytes=1, step_loops=()), TILES)
    assert parts.num_parts <= 64


def test_the_parts_of_a_candidate_cost_what_its_vertices_cost():
    operation = matmul(64, 64, 64)
    parts = parts_of_grid((16, 32, 64), (64, 64, 64))
    (found,) = candidates_of(operation, question_of(operation, TILES, 8), {parts: "grid"})
    machine = machine_of(TILES)
    assert found.compute == cycles_of(operation.work, np.array([[16, 32, 64]]), machine)[0]
    received = (16 * 64 + 64 * 32) * 4
    shared = 16 * 64 * 4  # the rows of two neighbours are the same
    assert found.brought == (received - shared // 2) // machine.exchange_bytes_per_cycle
    assert (found.combined, found.temporary, found.resident) == (0, received, received + 16 * 32 * 4)


def test_what_a_sort_needs_besides_its_rows_counts():
    extents = (64, 1000)
    work = CodeletCall(SORT, ("f32", "f32"), (extents, extents), ((0, 1), (0, 1)), kept=(0,), reduced=(1,))
    uses = (use((0, 1), extents),), (use((0, 1), extents),)
    operation = Operation("linalg.generic", "sort", extents, (True, False), *uses, work)
    parts = parts_of_grid((2, 1000), extents)
    (found,) = candidates_of(operation, question_of(operation, TILES, 8), {parts: "grid"})
    assert found.resident == 3 * 2 * 1000 * 4  # two rows that come, two that go, and a copy of two


def test_partial_results_cost_their_zeros_an_exchange_and_a_sum():
    operation = matmul(64, 64, 64)
    question = question_of(operation, TILES, 8)
    (found,) = candidates_of(operation, question, {parts_of_grid((64, 64, 16), (64, 64, 64)): "grid"})
    machine = machine_of(TILES)
    here = 64 * 64 // 64
    add = Reduction("f32", "f32", (0,), (1,), False, (), ADD)
    summed = cycles_of(add, np.array([[here, 4]]), machine)[0]
    moved = 4 * here * 4 // machine.exchange_bytes_per_cycle
    zeros = fill_cycles(64 * 64, "f32", machine)
    assert found.combined == zeros + moved + summed + machine.start_cycles + machine.sync_cycles


def test_a_window_reads_its_halo():
    operand = Operand((Index((2, 1)),), (21,), 4, True)
    assert operand.elements(np.array([[3, 3], [9, 3], [1, 1]])).tolist() == [7, 19, 1]


def test_equal_operations_are_decided_once(monkeypatch):
    decided = []
    decide = Fastest.decide
    monkeypatch.setattr(Fastest, "decide", lambda *question: decided.append(question) or decide(*question))
    operation = matmul(72, 88, 104, location="a.mlir:3:8")
    first = Fastest()(operation, TILES)
    assert Fastest()(replace(operation, location="a.mlir:4:8"), TILES) == first and len(decided) == 1
    for other in (replace(operation, temporary_bytes=20_000), matmul(72, 88, 104, (by_rows((72, 104), 8), None))):
        assert Fastest()(other, TILES) == decide(Fastest(), other, TILES)
    Fastest()(operation, Target(tiles_per_ipu=32))
    assert len(decided) == 4


def test_whoever_listens_is_told_everything():
    told = []
    operation = matmul(64, 64, 64)
    parts = Fastest(listener=lambda *decision: told.append(decision))(operation, TILES)
    ((same, candidates, chosen),) = told
    assert same == operation and chosen.parts == parts and chosen in candidates
    assert chosen.total == min(each.total for each in candidates if each.fits)
    text = explain(replace(operation, location="a.mlir:3:8"), candidates, chosen)
    assert text.splitlines()[0] == "a.mlir:3:8: linalg.matmul (matmul_f32), 64 x 64 x 64, 383,385 B for temporaries"
    assert sum(line.startswith("*") for line in text.splitlines()) == 1
    Fastest(listener=lambda *decision: told.append(decision))(operation, TILES)
    assert len(told) == 2  # of equal operations as well
