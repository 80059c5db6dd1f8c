"""Rows of an embedding, and its update: memory in random order, and rows that come several times."""

from typing import Any

import numpy as np

from benchmarks.workload import Array, Workload
from benchmarks.workloads.arrays import Numbers

COLUMNS, UPDATES = 128, 4096
RATE = np.float32(0.01)


def make_inputs(rows: int) -> list[Array]:
    """The table, the numbers of its rows, and a gradient for each."""
    numbers = Numbers()
    return [numbers.normal(rows, COLUMNS), numbers.classes(rows, UPDATES), numbers.normal(UPDATES, COLUMNS)]


def numpy_form(table: Array, ids: Array, gradients: Array) -> tuple[Array, ...]:
    """By hand: updates of one row are summed first, because ``np.add.at`` takes longer."""
    taken, updated = table[ids], table.copy()
    rows, number = np.unique(ids, return_inverse=True)
    updates = gradients * -RATE
    if len(rows) == len(ids):
        updated[ids] += updates
    else:
        order = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[order], np.arange(len(rows)))
        updated[rows] += np.add.reduceat(updates[order], starts, axis=0)
    return taken, updated


def jax_form(table: Any, ids: Any, gradients: Any) -> tuple[Any, ...]:
    """In JAX, which is told that the numbers are those of rows."""
    chosen = table.at[ids]
    return (
        chosen.get(mode="promise_in_bounds"),
        chosen.add(-RATE * gradients, mode="promise_in_bounds"),
    )


WORKLOAD = Workload(
    "embedding_update",
    "embedding_update",
    {"rows": 50000},
    {"rows": 500},
    make_inputs,
    numpy_form,
    jax_form,
)
