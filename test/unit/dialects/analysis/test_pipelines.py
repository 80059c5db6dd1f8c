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
        (Schedule("grouped", 4, False), "a...|ba..|cba.|dcba", "adcb|badc|cbad|dcba", ".dcb|..dc|...d|...."),
        (
            Schedule("interleaved", 3, True),
            "a..|b..|ca.|Db.|Eca|FDb",
            "aEc|bFD|caE|DbF|Eca|FDb",
            ".Ec|.FD|..E|..F|...|...",
        ),
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


def drawn(name: str, stages: int, training: bool) -> tuple[str, ...]:
    """The phases, drawn row by row: a row of positions for each micro-batch on its way, turned by when it begins.

    Grouped, one begins in every slot. Interleaved, one begins where its IPU in every slot is no other row's: the rows
    are tried one after the other.
    """
    ipus = [*range(stages), *(reversed(range(stages)) if training else ())]
    letters = [chr(ord("a") + k) for k in range(stages)] + [chr(ord("A") + k) for k in range(stages, len(ipus))]
    size, offsets = len(ipus), [0]
    for each in range(1, size if name != "sequential" else 0):
        clashes = any(
            ipus[(slot - each) % size] == ipus[(slot - other) % size] for slot in range(size) for other in offsets
        )
        if name == "grouped" or not clashes:
            offsets.append(each)
    rows = [[letters[(slot - offset) % size] for slot in range(size)] for offset in offsets]
    up = [["."] * offset + row[offset:] for offset, row in zip(offsets, rows, strict=True)]
    down = [row[:offset] + ["."] * (size - offset) for offset, row in zip(offsets, rows, strict=True)]
    return tuple("|".join("".join(slot) for slot in zip(*phase, strict=True)) for phase in (up, rows, down))


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_phases_are_the_rows_of_micro_batches_that_begin_as_early_as_they_may(name, training, stages):
    assert Schedule(name, stages, training).phases() == drawn(name, stages, training)


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
def test_an_ipu_of_an_interleaved_pipeline_goes_one_way_at_a_time(stages):
    _, steady, _ = Schedule("interleaved", stages, True).phases()
    for slot in steady.split("|"):
        letters = [
            chr(ord("a") + stages - 1 - (ord(each) - ord("A") - stages)) if each.isupper() else each for each in slot
        ]
        assert len(set(letters)) == stages


@pytest.mark.parametrize("stages", [2, 3, 4, 5])
@pytest.mark.parametrize(("name", "share"), [("grouped", 2), ("interleaved", 1), ("sequential", 0)])
def test_depths_slots_and_bubbles_follow_from_the_number_of_stages(name, share, stages):
    schedule = Schedule(name, stages, True)
    assert [schedule.stash_depth(stage) for stage in range(stages)] == [share * (stages - 1 - k) for k in range(stages)]
    count = 3 * schedule.overlap
    if name == "grouped":
        assert schedule.slots(count) == count + 2 * stages - 1
        assert schedule.bubble(count) == pytest.approx((2 * stages - 1) / (count + 2 * stages - 1))


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
