"""Sorting along the last dimension."""

from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import LibraryCodelet


def _sort_one_vertex(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    """Insertion sort of every row of one vertex, NaN last: the definition that the fast form is held to."""
    rows = values.reshape(-1, values.shape[-1]).copy()
    for row in rows:
        for i in range(1, len(row)):
            value, j = row[i], i
            while j > 0 and (row[j - 1] > value or (row[j - 1] != row[j - 1] and value == value)):
                row[j] = row[j - 1]
                j -= 1
            row[j] = value
    return (rows.reshape(values.shape),)


def _sort_all(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    return (np.sort(values, axis=-1, kind="stable"),)


SORT = LibraryCodelet(
    name="sort",
    per_tile=_sort_one_vertex,
    vectorised=_sort_all,
    scratch_bytes=lambda shapes, element_bytes: prod(shapes[0][-1:]) * element_bytes,
    needs="one operand and a result of its shape, of at least one dimension",
    takes=lambda inputs, outputs: len(inputs) == len(outputs) == 1 and inputs == outputs and len(inputs[0]) > 0,
    source="ascending and stable, NaN last, as numpy.sort",
    rounds=False,
)
