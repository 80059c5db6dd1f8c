"""Beam search for the most probable label sequences of connectionist temporal classification.

Graves, "Supervised Sequence Labelling with Recurrent Neural Networks", section 7.5.3, without a language model: a beam
holds the label sequences with the largest probability up to a time, summed over their paths that are still there.
"""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.ctc import Array
from ipu_mlir.dialects.codelets.matrices import of_each
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray

_SIGNATURE = Signature.parse("t c, , , w -> w, w, w t")
NO_LABEL = -1
"""Fills labels behind the last one of a sequence."""


def _results(found: list[tuple[float, tuple[int, ...]]], width: int, rows: Array) -> tuple[Array, Array, Array]:
    """Negative logarithms, lengths and labels; infinite and empty where a beam holds fewer sequences."""
    scores = np.full(width, np.inf, rows.dtype)
    lengths = np.zeros(width, np.int32)
    labels = np.full((width, len(rows)), NO_LABEL, np.int32)
    for place, (score, sequence) in enumerate(found):
        scores[place], lengths[place] = -score, len(sequence)
        labels[place, : len(sequence)] = sequence
    return scores, lengths, labels


def _search_one(rows: Array, times: Array, blank: Array, order: Array) -> tuple[Array, Array, Array]:
    """Sequence after sequence: the definition. Of equal ones, that which was found first comes first."""
    width, none = len(order), (-np.inf, -np.inf)
    wanted = min(max(int(blank), 0), rows.shape[1] - 1)
    beam: dict[tuple[int, ...], tuple[Any, Any]] = {(): (rows.dtype.type(0), -np.inf)}
    for row in rows[: min(max(int(times), 0), len(rows))]:
        after: dict[tuple[int, ...], tuple[Any, Any]] = {}
        for sequence, (ends, goes) in beam.items():
            whole = np.logaddexp(ends, goes)
            stays = goes + row[sequence[-1]] if sequence else -np.inf
            old = after.get(sequence, none)
            after[sequence] = (np.logaddexp(old[0], whole + row[wanted]), np.logaddexp(old[1], stays))
            for label in range(len(row)):
                if label != wanted:
                    longer = (*sequence, label)
                    grown = (ends if sequence and sequence[-1] == label else whole) + row[label]
                    old = after.get(longer, none)
                    after[longer] = (old[0], np.logaddexp(old[1], grown))
        there = [(np.logaddexp(*both), sequence) for sequence, both in after.items()]
        best = sorted((each for each in there if each[0] > -np.inf), key=lambda each: -each[0])[:width]
        beam = {sequence: after[sequence] for _, sequence in best}
    found = [(np.logaddexp(*both), sequence) for sequence, both in beam.items()]
    return _results(found, width, rows)


def _search_fast(rows: Array, times: Array, blank: Array, order: Array) -> tuple[Array, Array, Array]:
    """The same with arrays over the beam; sequences are nodes of a tree."""
    width, count = len(order), rows.shape[1]
    wanted = min(max(int(blank), 0), count - 1)
    tree: list[tuple[int, int]] = [(-1, NO_LABEL)]  # of each node, the one before and its label
    children: dict[tuple[int, int], int] = {}
    nodes, ends, goes = np.array([0]), np.zeros(1, rows.dtype), np.full(1, -np.inf, rows.dtype)
    for row in rows[: min(max(int(times), 0), len(rows))]:
        last = np.array([tree[node][1] for node in nodes])
        whole = np.logaddexp(ends, goes)
        stays = np.where(last < 0, -np.inf, goes + row[last])
        grown = whole[:, None] + row
        grown[:, wanted] = -np.inf
        has_label = np.flatnonzero(last >= 0)
        grown[has_label, last[has_label]] = ends[has_label] + row[last[has_label]]
        place_of = {int(node): place for place, node in enumerate(nodes)}
        for place, node in enumerate(nodes):
            before = place_of.get(tree[node][0])
            if before is not None:
                stays[place] = np.logaddexp(stays[place], grown[before, last[place]])
                grown[before, last[place]] = -np.inf
        idle = whole + row[wanted]
        scores = np.concatenate([np.logaddexp(idle, stays), grown.ravel()])
        taken = np.argsort(-scores, kind="stable")[:width]
        taken = taken[scores[taken] > -np.inf]
        number = len(nodes)
        chosen, new_ends, new_goes = [], [], []
        for each in taken.tolist():
            if each < number:
                chosen.append(int(nodes[each]))
                new_ends.append(idle[each])
                new_goes.append(stays[each])
            else:
                edge = (int(nodes[(each - number) // count]), (each - number) % count)
                if edge not in children:
                    children[edge] = len(tree)
                    tree.append(edge)
                chosen.append(children[edge])
                new_ends.append(-np.inf)
                new_goes.append(scores[each])
        nodes = np.array(chosen, np.int64)
        ends, goes = np.array(new_ends, rows.dtype), np.array(new_goes, rows.dtype)
    return _results(
        list(zip(np.logaddexp(ends, goes), (_sequence(tree, node) for node in nodes), strict=True)), width, rows
    )


def _sequence(tree: list[tuple[int, int]], node: int) -> tuple[int, ...]:
    found = []
    while node > 0:
        node, label = tree[node]
        found.append(label)
    return tuple(reversed(found))


def _sizes(sizes: IntArray) -> tuple[Size, Size, Size, Size]:
    first = sizes.shape[-1] - len(_SIGNATURE.loops)
    return product_over(sizes, range(first)), sizes[..., first], sizes[..., first + 1], sizes[..., first + 2]


def search_cycles(sequences: Size, times: Size, classes: Size, width: Size, machine: Machine) -> Size:
    """Cycles of searches.

    Workers share the candidates of a search, of which there are a beam times the classes at each time; or each takes
    searches of its own. Source: assumed: 36 cycles for the log-addition of each sequence that stays (twice), 12 for
    each candidate, which is added, compared and kept in a heap if it is among the best, and 60 for each of those.
    """
    candidates = width * classes
    each = 12 * candidates + (2 * 36 + 60) * width
    shared = sequences * times * (2 * 26 + 12 * per_worker(candidates, machine) + (2 * 36 + 60) * width)
    return 11 + machine.workers * smaller(shared, 26 + per_worker(sequences, machine) * times * each)


def _cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    return search_cycles(*_sizes(sizes), machine)


def _scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
    """Two beams of scores, and the tree: a node for each sequence at each time."""
    sequences, times, _, width = _sizes(sizes)
    return smaller(machine.workers, sequences) * width * (2 * 12 + 8 * times)


def _flops(call: CodeletCall, sizes: IntArray) -> Size:
    sequences, times, classes, width = _sizes(sizes)
    return sequences * times * width * (classes + 6)


CTC_SEARCH = LibraryCodelet(
    name="ctc_beam_search",
    per_tile=lambda *operands: of_each(_search_one, *operands, cores=(2, 0, 0, 1)),
    vectorised=lambda *operands: of_each(_search_fast, *operands, cores=(2, 0, 0, 1)),
    cycles=_cycles,
    scratch_bytes=_scratch_bytes,
    flops=_flops,
    code_bytes=2048,
    needs=f"{_SIGNATURE}: logarithms, the number of times, the blank, and a place for each sequence of the beam",
    takes=lambda inputs, outputs: _SIGNATURE.takes(inputs, outputs) and 0 not in (*inputs[0][-2:], *inputs[3][-1:]),
    takes_types=lambda inputs, outputs: (
        (*inputs, *outputs) == (inputs[0], "i32", "i32", "i32", inputs[0], "i32", "i32") and inputs[0] in ("f32", "f64")
    ),
    signature=_SIGNATURE,
    source="Graves, Supervised Sequence Labelling, 7.5.3; cycles and bytes: assumption",
)
"""Gives negative logarithms, lengths and labels of a beam, the most probable first; its last operand is only as long as
the beam is wide."""
