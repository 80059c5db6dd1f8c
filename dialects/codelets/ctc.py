"""Connectionist temporal classification: the loss of label sequences, and its gradient.

Graves and others, "Connectionist Temporal Classification", ICML 2006. A path names a class at each time; it stands for
the labels that are left when repetitions and then blanks are taken out. The loss is the negative logarithm of the
probability of all paths for the labels. Operands of a sequence: logarithms of probabilities ``[time, classes]``, labels
``[l]``, how many of them there are, how many times there are, and which class is the blank. Sizes beyond those of the
arrays are cut to them; a label that is no class is taken as the nearest one.
"""

from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.matrices import of_each
from ipu_mlir.dialects.codelets.signature import Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over, smaller
from ipu_mlir.dialects.mapping.loops import IntArray

Array = np.ndarray[Any, Any]

_LOSS = Signature.parse("t c, l, , , ->")
_GRADIENT = Signature.parse("t c, l, , , -> , t c")
CORES = (2, 1, 0, 0, 0)
"""How many dimensions the operands of one sequence have."""

_LOGADDEXP_CYCLES = 36
"""As in a reduction (docs/hardware.md, 4.2)."""
_EXP_CYCLES = 18


def _cut(size: Any, most: int) -> int:
    return min(max(int(size), 0), most)


def _with_blanks(labels: Array, count: int, blank: int, classes: int) -> list[int]:
    """Labels with a blank before, between and after them."""
    found = [blank]
    for label in labels[:count]:
        found += [min(max(int(label), 0), classes - 1), blank]
    return found


def _forward_one(rows: Array, states: list[int], blank: int) -> Array:
    """For each time and state, the probability of the paths up to there: ``[time, states]`` logarithms."""
    found = np.full((len(rows), len(states)), -np.inf, rows.dtype)
    for time, row in enumerate(rows):
        for state, label in enumerate(states):
            if time == 0:
                before = rows.dtype.type(0 if state < 2 else -np.inf)
            else:
                before = found[time - 1, state]
                if state > 0:
                    before = np.logaddexp(before, found[time - 1, state - 1])
                if state > 1 and label not in (blank, states[state - 2]):
                    before = np.logaddexp(before, found[time - 1, state - 2])
            found[time, state] = before + row[label]
    return found


def _parts(rows: Array, labels: Array, count: Any, times: Any, blank: Any) -> tuple[Array, list[int], int, Any]:
    """The rows that there are, states, the blank, and the logarithm of the probability of the labels."""
    rows = rows[: _cut(times, len(rows))]
    wanted = _cut(blank, rows.shape[1] - 1)
    states = _with_blanks(labels, _cut(count, len(labels)), wanted, rows.shape[1])
    if not len(rows):
        return rows, states, wanted, rows.dtype.type(0 if len(states) == 1 else -np.inf)
    last = _forward_one(rows, states, wanted)[-1]
    return rows, states, wanted, last[-1] if len(states) == 1 else np.logaddexp(last[-1], last[-2])


def _loss_one(rows: Array, labels: Array, count: Array, times: Array, blank: Array) -> Array:
    return np.asarray(-_parts(rows, labels, count, times, blank)[-1], rows.dtype)


def _gradient_one(rows: Array, labels: Array, count: Array, times: Array, blank: Array) -> tuple[Array, Array]:
    """The share of the paths that have a class at a time, negative; NaN where there is no path."""
    own, states, wanted, total = _parts(rows, labels, count, times, blank)
    gradient = np.zeros_like(rows)
    forward = _forward_one(own, states, wanted)
    backward = _forward_one(own[::-1], states[::-1], wanted)[::-1, ::-1]  # the same from the end
    for time, row in enumerate(own):
        for state, label in enumerate(states):
            if np.isneginf(total):
                gradient[time] = np.nan
            elif not np.isneginf(row[label]):
                both = forward[time, state] + backward[time, state] - row[label]
                gradient[time, label] -= np.exp(both - total)
    return np.asarray(-total, rows.dtype), gradient


def _states_of_all(rows: Array, labels: Array, counts: Array, blanks: Array) -> tuple[Array, Array, Array]:
    """Of all sequences: the classes of states, how many there are, and where a state may be reached past a blank."""
    number = labels.shape[1]
    last = rows.shape[2] - 1
    blanks = np.clip(blanks, 0, last)
    states = np.repeat(blanks[:, None], 2 * number + 1, 1)
    states[:, 1::2] = np.clip(labels, 0, last)
    jumps = np.zeros(states.shape, bool)
    jumps[:, 2:] = (states[:, 2:] != blanks[:, None]) & (states[:, 2:] != states[:, :-2])
    return states, 2 * np.clip(counts, 0, number) + 1, jumps


def _forward_all(scores: Array, jumps: Array) -> Array:
    """``_forward_one`` of all sequences, from the scores ``[batch, time, states]`` of the states."""
    found = np.empty_like(scores)
    found[:, 0, 2:] = -np.inf
    found[:, 0, :2] = scores[:, 0, :2]
    for time in range(1, scores.shape[1]):
        before = found[:, time - 1].copy()
        np.logaddexp(before[:, 1:], found[:, time - 1, :-1], before[:, 1:])
        jumped = np.logaddexp(before[:, 2:], found[:, time - 1, :-2])
        before[:, 2:] = np.where(jumps[:, 2:], jumped, before[:, 2:])
        np.add(before, scores[:, time], found[:, time])
    return found


def _totals(forward: Array, counts: Array, times: Array) -> Array:
    """The logarithm of the probability of each sequence."""
    every = np.arange(len(forward))
    last = forward[every, np.maximum(times - 1, 0)]
    ends, before = last[every, counts - 1], last[every, np.maximum(counts - 2, 0)]
    found = np.where(counts == 1, ends, np.logaddexp(ends, before))
    return np.where(times == 0, np.where(counts == 1, 0, -np.inf), found).astype(forward.dtype)


def _flat(rows: Array, labels: Array, *numbers: Array) -> tuple[Array, ...]:
    return (
        rows.reshape(-1, *rows.shape[-2:]),
        labels.reshape(-1, labels.shape[-1]),
        *(each.reshape(-1).astype(np.int64) for each in numbers),
    )


def _loss_all(rows: Array, labels: Array, counts: Array, times: Array, blanks: Array) -> tuple[Array, ...]:
    stack = rows.shape[:-2]
    rows, labels, counts, times, blanks = _flat(rows, labels, counts, times, blanks)
    states, own, jumps = _states_of_all(rows, labels, counts, blanks)
    with np.errstate(invalid="ignore"):
        forward = _forward_all(np.take_along_axis(rows, states[:, None, :], 2), jumps)
        return (-_totals(forward, own, np.clip(times, 0, rows.shape[1])).reshape(stack),)


def _gradient_all(rows: Array, labels: Array, counts: Array, times: Array, blanks: Array) -> tuple[Array, ...]:
    stack, shape = rows.shape[:-2], rows.shape
    rows, labels, counts, times, blanks = _flat(rows, labels, counts, times, blanks)
    states, own, jumps = _states_of_all(rows, labels, counts, blanks)
    times = np.clip(times, 0, rows.shape[1])
    gradient = np.zeros_like(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = np.take_along_axis(rows, states[:, None, :], 2)
        forward = _forward_all(scores, jumps)
        totals = _totals(forward, own, times)
        # From the end: times and states of each sequence turned round, which begin where its own ones end.
        steps, places = np.arange(rows.shape[1]), np.arange(states.shape[1])
        turned = np.where(steps < times[:, None], times[:, None] - 1 - steps, steps)
        mirror = np.where(places < own[:, None], own[:, None] - 1 - places, places)
        back = np.take_along_axis(np.take_along_axis(scores, turned[:, :, None], 1), mirror[:, None, :], 2)
        jumps_back = np.zeros_like(jumps)
        mirrored = np.take_along_axis(states, mirror, 1)
        clipped = np.clip(blanks, 0, rows.shape[2] - 1)[:, None]
        jumps_back[:, 2:] = (mirrored[:, 2:] != clipped) & (mirrored[:, 2:] != mirrored[:, :-2])
        back = _forward_all(back, jumps_back)
        back = np.take_along_axis(np.take_along_axis(back, turned[:, :, None], 1), mirror[:, None, :], 2)
        both = np.where(np.isneginf(scores), -np.inf, forward + back - scores)
        shares = np.exp(both - totals[:, None, None])
        inside = (steps < times[:, None])[:, :, None] & (places < own[:, None])[:, None, :]
        shares = np.where(inside, shares, 0)
    for state in range(states.shape[1]):
        every = np.arange(len(rows))
        gradient[every, :, states[:, state]] -= shares[:, :, state]
    gradient[np.isneginf(totals)[:, None] & (steps < times[:, None])] = np.nan
    return -totals.reshape(stack), gradient.reshape(shape)


def ctc_cycles(sequences: Size, times: Size, labels: Size, passes: int, exponentials: int, machine: Machine) -> Size:
    """Cycles of ``passes`` over the states of sequences, and of some exponentials of each state at each time.

    Workers share the states of a sequence, which they are told at each time (26 cycles, as for any other vertex); or
    each takes sequences of its own: whichever is faster. Source: assumed: two log-additions of 36 cycles, as in a
    reduction, and 8 cycles for loads, stores and the choice of the states, for each state at each time.
    """
    states = 2 * labels + 1
    each = passes * (2 * _LOGADDEXP_CYCLES + 8) + exponentials * (_EXP_CYCLES + 6)
    shared = sequences * times * (26 * passes + each * per_worker(states, machine))
    apart = 26 + per_worker(sequences, machine) * times * states * each
    return 11 + machine.workers * smaller(shared, apart)


def _codelet(name: str, signature: Signature, one: Any, every: Any, passes: int, scratch_rows: int) -> LibraryCodelet:
    is_gradient = passes > 1

    def sizes_of(sizes: IntArray) -> tuple[Size, Size, Size]:
        first = sizes.shape[-1] - len(signature.loops)
        return product_over(sizes, range(first)), sizes[..., first], sizes[..., first + 2]

    def cycles(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        sequences, times, labels = sizes_of(sizes)
        return ctc_cycles(sequences, times, labels, passes, int(is_gradient), machine)

    def scratch_bytes(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
        sequences, times, labels = sizes_of(sizes)
        rows = times + scratch_rows if is_gradient else scratch_rows
        return 4 * smaller(machine.workers, sequences) * rows * (2 * labels + 1)

    def flops(call: CodeletCall, sizes: IntArray) -> Size:
        sequences, times, labels = sizes_of(sizes)
        return (3 * passes + int(is_gradient) * 3) * sequences * times * (2 * labels + 1)

    return LibraryCodelet(
        name=name,
        per_tile=lambda *operands: of_each(one, *operands, cores=CORES),
        vectorised=every,
        cycles=cycles,
        scratch_bytes=scratch_bytes,
        flops=flops,
        code_bytes=1024,
        needs=f"{signature}: logarithms, labels, their number, that of times, and the blank",
        takes=lambda inputs, outputs: signature.takes(inputs, outputs) and 0 not in inputs[0][-2:],
        takes_types=lambda inputs, outputs: (
            inputs == (*outputs[:1], "i32", "i32", "i32", "i32") and set(outputs) <= {"f32", "f64"}
        ),
        signature=signature,
        source="Graves and others, ICML 2006, equations 6 to 15, in logarithms; cycles and bytes: assumption",
    )


CTC_LOSSES = (
    _codelet("ctc_loss", _LOSS, _loss_one, _loss_all, passes=1, scratch_rows=2),
    _codelet("ctc_loss_gradient", _GRADIENT, _gradient_one, _gradient_all, passes=2, scratch_rows=2),
)
"""``ctc_loss_gradient`` gives the loss, too, and its gradient by the logarithms."""
