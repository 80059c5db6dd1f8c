"""Temporaries that live at the same time never overlap; those that do not share memory."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipu_mlir.runtime.translator.codegen.memory_plan import ALIGNMENT, plan
from ipu_mlir.runtime.translator.codegen.schedule import Call, View
from ipu_mlir.runtime.translator.statements.access import Buffer, Role
from ipu_mlir.runtime.translator.statements.statements import Origin

F32 = np.dtype(np.float32)


def use(buffer: Buffer) -> Call:
    view = View(buffer, F32, 0, (buffer.elements,), (1,))
    return Call("f({out})", (), view, Origin("test", ""))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 200)), min_size=1, max_size=25))
def test_live_buffers_are_disjoint_and_aligned(wanted):
    buffers = [Buffer(f"b{i}", size, F32, Role.TEMPORARY) for i, (_, _, size) in enumerate(wanted)]
    spans = [(min(a, b), max(a, b)) for a, b, _ in wanted]
    steps = []
    for time in range(21):
        steps += [use(buffer) for buffer, span in zip(buffers, spans, strict=True) if time in span]
    first = {b: min(i for i, s in enumerate(steps) if s.out.buffer is b) for b in buffers}
    last = {b: max(i for i, s in enumerate(steps) if s.out.buffer is b) for b in buffers}
    made = plan(steps, {}, set())
    for one in buffers:
        begin, end = made.offsets[one], made.offsets[one] + one.elements * 4
        assert begin % ALIGNMENT == 0 and end <= made.total_bytes
        for other in buffers:
            if one is not other and first[one] <= last[other] and first[other] <= last[one]:
                there = made.offsets[other]
                assert end <= there or there + other.elements * 4 <= begin


def test_memory_of_the_dead_is_used_again():
    one, two = (Buffer(name, 100, F32, Role.TEMPORARY) for name in "ab")
    assert plan([use(one), use(two)], {}, set()).total_bytes == 448


def test_buffers_in_one_place_have_one_offset_and_held_places_none():
    one, two, held = (Buffer(name, 100, F32, Role.TEMPORARY) for name in "abc")
    made = plan([use(one), use(two), use(held)], {one: two, two: two, held: held}, {held})
    assert set(made.offsets) == {two}
