"""Variables that a function only reads stay as they are, and updates by parts of a variable read its old elements."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.analysis.variables import state_arguments

F32 = np.float32
FIRST = F32([1, 2, 3, 4])
NINE = F32(9)
Form = Callable[[ipu.Variable, Any], Any]


def _updated_twice(v: ipu.Variable, i: Any) -> Any:
    x = v.value
    return x.at[i].set(x[-1]).at[i + 1].set(F32(7))


def _updated_in_rounds(v: ipu.Variable, i: Any) -> Any:
    return ipu.fori_loop(0, 2, lambda k, c: c.at[i + k].set(c[-1]), v.value)


def _updated_while(v: ipu.Variable, i: Any) -> Any:
    end = np.int32(2)
    return ipu.while_loop(lambda s: s[0] < end, lambda s: (s[0] + np.int32(1), s[1].at[s[0]].set(NINE)), (i, v.value))[
        1
    ]


def _added_to(v: ipu.Variable, i: Any) -> Any:
    x = v.value
    return x.at[np.array([0, 1])].add(x[i])


READERS: dict[str, tuple[Form, list[Any]]] = {
    "at an index": (lambda v, i: v.value.at[i].set(NINE), [9, 2, 3, 4]),
    "at a constant": (lambda v, i: v.value.at[0].set(v.value[-1]), [4, 2, 3, 4]),
    "a slice": (lambda v, i: v.value.at[1:3].set(F32(0)), [1, 0, 0, 4]),
    "a slice of itself": (lambda v, i: ipu.dynamic_update_slice(v.value, v.value[2:3], (i,)), [3, 2, 3, 4]),
    "twice": (_updated_twice, [4, 7, 3, 4]),
    "a scatter": (_added_to, [2, 3, 3, 4]),
    "in a loop": (_updated_in_rounds, [4, 4, 3, 4]),
    "in a while": (_updated_while, [9, 9, 3, 4]),
    "in a scan": (lambda v, i: ipu.scan(lambda c, r: (c.at[i].add(r), r), v.value, np.ones(3, F32))[0], [4, 2, 3, 4]),
    "in a branch": (lambda v, i: ipu.cond(i < 1, lambda: v.value.at[i].set(NINE), lambda: v.value), [9, 2, 3, 4]),
    "outlined": (lambda v, i: ipu.outlined(lambda x: x.at[i].set(NINE))(v.value), [9, 2, 3, 4]),
    "with the variable": (lambda v, i: v.value.at[i].set(NINE) + v.value * F32(0), [9, 2, 3, 4]),
}
"""By name, a function that updates a copy of a variable, and its result."""


@pytest.mark.parametrize("kernels", ["never", "always"])
@pytest.mark.parametrize("tiles", [1, 4])
@pytest.mark.parametrize("form", READERS)
def test_a_function_that_only_reads_leaves_the_variable(form: str, tiles: int, kernels: str) -> None:
    program, expected = READERS[form]
    v = ipu.Variable(FIRST, name="v")
    executable = ipu.compile(
        lambda i: program(v, i), args=(np.int32(0),), target=ipu.Target(tiles_per_ipu=tiles), kernels=kernels
    )
    for run in (executable.run, executable.run_per_tile, executable.run):
        np.testing.assert_array_equal(run([np.int32(0)])[0], F32(expected))
        np.testing.assert_array_equal(v.value, FIRST)


@pytest.mark.parametrize("form", ["at an index", "a slice", "in a loop", "in a while", "in a branch"])
def test_a_variable_that_would_be_overwritten_is_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipu_mlir.passes.placement.place_tensors.assigned_arguments", state_arguments)
    on_all_tiles = "ipu_mlir.passes.placement.partition.function_parts.runs_on_one_tile"
    monkeypatch.setattr(on_all_tiles, lambda *_: False)  # one tile would have a copy
    v = ipu.Variable(FIRST, name="v")
    with pytest.raises(ipu.IpuError, match="writes variable @v, which the program does not assign behind it"):
        ipu.compile(lambda i: READERS[form][0](v, i), args=(np.int32(0),), target=ipu.Target(tiles_per_ipu=4))


def _swap(v: ipu.Variable) -> None:
    x = v.value
    v.assign(x.at[0].set(x[1]).at[1].set(x[0]))


def _turn(v: ipu.Variable) -> None:
    v.assign(np.concatenate([v.value[1:], v.value[:1]]))


def _shift(v: ipu.Variable) -> None:
    v.assign(ipu.dynamic_update_slice(v.value, v.value[1:], (0,)).at[3].set(NINE))


def _last_to_first(v: ipu.Variable) -> None:
    v.assign(v.value.at[0].set(v.value[-1]))


def _in_a_branch(v: ipu.Variable) -> None:
    x = v.value
    y = x.at[1].set(NINE)
    ipu.cond(x[0] > 0, lambda: v.assign(x.at[0].set(y[1])), lambda: None)


UPDATES: dict[str, tuple[Callable[[ipu.Variable], None], list[int]]] = {
    "two elements are swapped": (_swap, [2, 1, 3, 4]),
    "turned by one": (_turn, [2, 3, 4, 1]),
    "shifted in place": (_shift, [2, 3, 4, 9]),
    "the last becomes the first": (_last_to_first, [4, 2, 3, 4]),
    "in a branch, by an update that is dropped": (_in_a_branch, [9, 2, 3, 4]),
}


@pytest.mark.parametrize("offload", [False, True])
@pytest.mark.parametrize("tiles", [1, 4, 16])
@pytest.mark.parametrize("form", UPDATES)
def test_a_variable_is_updated_by_parts_of_itself(form: str, tiles: int, offload: bool) -> None:
    update, expected = UPDATES[form]
    for run in ("run", "run_per_tile"):
        v = ipu.Variable(FIRST, name="v", offload=offload)
        executable = ipu.compile(lambda v=v: update(v), args=(), target=ipu.Target(tiles_per_ipu=tiles))
        getattr(executable, run)([])
        np.testing.assert_array_equal(v.value, F32(expected))


@pytest.mark.parametrize("tiles", [1, 4])
def test_an_offloaded_variable_is_read_again_after_it_was_assigned(tiles: int) -> None:
    v = ipu.Variable(np.int32([1, 2, 3, 4]), name="v", offload=True)
    w = ipu.Variable(np.int32([5, 6, 7, 8]), name="w")

    def program(x: Any) -> Any:
        new = w.value + x
        _ = v.value + x  # a read behind the new value, for a sum that nothing uses
        v.assign(new)
        return v.value + x

    executable = ipu.compile(program, args=(np.int32(1),), target=ipu.Target(tiles_per_ipu=tiles))
    assert executable.run([np.int32(2)])[0].tolist() == [9, 10, 11, 12]
    assert v.value.tolist() == [7, 8, 9, 10]


def test_an_outlined_function_gives_back_the_old_value_of_a_variable_that_it_changes() -> None:
    v = ipu.Variable(FIRST, name="v")

    def replace(old: Any) -> Any:
        v.assign(v.value[::-1])
        return old

    executable = ipu.compile(lambda: ipu.outlined(replace)(v.value), args=(), target=ipu.Target(tiles_per_ipu=4))
    for run, expected in ((executable.run, FIRST), (executable.run_per_tile, FIRST[::-1])):
        np.testing.assert_array_equal(run([])[0], expected)
        np.testing.assert_array_equal(v.value, expected[::-1])


def test_a_variable_that_becomes_itself_in_a_branch_after_another_is_not_copied() -> None:
    v = ipu.Variable(FIRST, name="v")

    def program(x: Any) -> None:
        ipu.cond(x > 0, lambda: None, lambda: _shift(v))
        ipu.cond(x > 2, lambda: v.assign(-v.value), lambda: v.assign(v.value))

    executable = ipu.compile(program, args=(np.int32(0),), target=ipu.Target(tiles_per_ipu=1))
    for number, expected in ((0, [2, 3, 4, 9]), (1, [2, 3, 4, 9]), (3, [-2, -3, -4, -9])):
        executable.run([np.int32(number)])
        assert v.value.tolist() == expected


def test_a_session_has_the_variables_that_functions_use() -> None:
    v, unused = ipu.Variable(FIRST, name="v"), ipu.Variable(FIRST, name="unused", offload=True)

    def program() -> Any:
        _ = unused.value + 1
        return v.value * 2

    session = ipu.compile(program, args=(), target=ipu.Target(tiles_per_ipu=1)).session()
    session()
    assert {name: value.tolist() for name, value in session.items()} == {"v": [1, 2, 3, 4]}


def test_a_sort_in_an_outlined_function_reads_the_variable_that_a_loop_carries() -> None:
    v, w = ipu.Variable(np.int32([3, 1, 2, 0]), name="v"), ipu.Variable(FIRST, name="w")

    def update() -> None:
        v.assign(np.sort(v.value, axis=-1))
        w.assign(w.value.at[0].set(w.value[-1]))

    def program() -> Any:
        old, function = v.value, ipu.outlined(update)

        def body(_: Any, carried: Any) -> Any:
            function()
            return carried

        ipu.fori_loop(0, 2, body, ())
        return old

    executable = ipu.compile(program, args=(), target=ipu.Target(tiles_per_ipu=1))
    assert executable.run([])[0].tolist() == [3, 1, 2, 0]
    assert v.value.tolist() == [0, 1, 2, 3] and w.value.tolist() == [4, 2, 3, 4]


def test_results_of_an_outlined_function_that_are_one_value_are_updated_apart() -> None:
    v = ipu.Variable(FIRST, name="v")

    def program(i: Any) -> Any:
        both = ipu.outlined(lambda x: (x, x))
        one, other = both(both(v.value)[0])
        return other, one.at[i].set(NINE)

    executable = ipu.compile(program, args=(np.int32(0),), target=ipu.Target(tiles_per_ipu=1))
    for run in (executable.run, executable.run_per_tile):
        other, one = run([np.int32(1)])
        assert other.tolist() == [1, 2, 3, 4] and one.tolist() == [1, 9, 3, 4]
