"""The slots in which stages of pipelines run."""

import pytest

from ipu_mlir.dialects.analysis.pipelines import SCHEDULES, Schedule


@pytest.mark.parametrize(
    ("schedule", "up", "steady", "down"),
    [
        (Schedule("grouped", 2, False), "a.|ba", "ab|ba", ".b|.."),
        (Schedule("grouped", 3, False), "a..|ba.|cba", "acb|bac|cba", ".cb|..c|..."),
        (Schedule("grouped", 2, True), "a...|ba..|Cba.|DCba", "aDCb|baDC|CbaD|DCba", ".DCb|..DC|...D|...."),
        (Schedule("interleaved", 2, True), "a.|b.|Ca|Db", "aC|bD|Ca|Db", ".C|.D|..|.."),
        (Schedule("interleaved", 3, False), "a..|ba.|cba", "acb|bac|cba", ".cb|..c|..."),
        (Schedule("sequential", 3, True), "a|b|c|D|E|F", "a|b|c|D|E|F", ".|.|.|.|.|."),
    ],
)
def test_phases(schedule, up, steady, down):
    assert schedule.phases() == (up, steady, down)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_ramps_and_steady_state_are_the_micro_batches_one_stride_apart(name, training, stages):
    schedule = Schedule(name, stages, training)
    count = 3 * schedule.overlap
    up, steady, down = (phase.split("|") for phase in schedule.phases())
    slots = [*up, *steady * (count // schedule.overlap - 1), *down]
    working = {slot: sum(letter != "." for letter in letters) for slot, letters in enumerate(slots)}
    starts = [schedule.stride * number for number in range(count)]
    for slot, found in working.items():
        assert found == sum(start <= slot < start + schedule.positions for start in starts)
    assert max(slot for slot, found in working.items() if found) + 1 == schedule.slots(count)


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_an_ipu_of_an_interleaved_pipeline_goes_one_way_at_a_time(stages):
    _, steady, _ = Schedule("interleaved", stages, True).phases()
    for slot in steady.split("|"):
        letters = [
            chr(ord("a") + stages - 1 - (ord(each) - ord("A") - stages)) if each.isupper() else each for each in slot
        ]
        assert len(set(letters)) == stages


@pytest.mark.parametrize(
    ("schedule", "depths"),
    [
        (Schedule("grouped", 4, True), [6, 4, 2, 0]),
        (Schedule("interleaved", 4, True), [3, 2, 1, 0]),
        (Schedule("sequential", 4, True), [0, 0, 0, 0]),
    ],
)
def test_depths_of_stashes(schedule, depths):
    assert [schedule.stash_depth(stage) for stage in range(schedule.stages)] == depths


def test_bubble_is_the_share_of_slots_without_work():
    assert Schedule("grouped", 4, False).bubble(8) == pytest.approx(3 / 11)
    assert Schedule("grouped", 2, True).bubble(8) == pytest.approx(3 / 11)
    assert Schedule("interleaved", 2, True).bubble(8) == pytest.approx(1 - 16 / 18)
