"""What ``ipu-fold-constants`` computes has the bits that both executors give."""

from types import ModuleType

import pytest
from cases import (
    comparisons_and_casts,
    contractions,
    float_ops,
    integer_ops,
    narrow_casts,
    narrow_floats,
    narrow_tensors,
    reductions,
    views,
)
from support.case import TARGETS
from support.compare import same_bits
from support.folded import folded

import ipu_mlir as ipu

TABLES = (
    comparisons_and_casts,
    contractions,
    float_ops,
    integer_ops,
    narrow_casts,
    narrow_floats,
    narrow_tensors,
    reductions,
    views,
)


LONG = {comparisons_and_casts, reductions, narrow_floats}


@pytest.mark.parametrize(
    "table",
    [pytest.param(table, id=table.__name__, marks=pytest.mark.slow if table in LONG else ()) for table in TABLES],
)
def test_folded_results_are_those_of_both_executors(table: ModuleType) -> None:
    checked = 0
    for case in table.CASES:
        results = folded(case.text, case.inputs)
        if all(result is None for result in results):
            continue
        checked += 1
        executable = ipu.compile(case.text, target=TARGETS[4])
        for run in (executable.run, executable.run_per_tile):
            given = run(case.inputs)
            known = [number for number, result in enumerate(results) if result is not None]
            found = [result for result in results if result is not None]
            assert not same_bits(found, [given[number] for number in known]), case.name
    assert checked
