"""Variables in remote memory that are rows of one buffer: the same to the host, and to both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.linspace(-1, 1, 64, dtype=np.float32)
KINDS = ("none", "beneficial", "all")


def compiled(merged, replicas=1, partition=False, outlined=True):
    """Three steps, each on a variable of its own, and one variable of another shape."""
    names = ("m0", "m1", "m2")
    state = [
        ipu.Variable(np.full(64, n, np.float32), name, offload=True, partition=partition)
        for n, name in enumerate(names)
    ]
    count = ipu.Variable(np.zeros(3, np.float32), name="count", offload=True)

    def step(m):
        def update(gradient):
            m.assign(m.value * np.float32(0.5) + ipu.all_reduce(gradient, "mean"))
            return gradient * 2

        return ipu.outlined(update) if outlined else update

    def main(x):
        for m in state:
            x = step(m)(x)
        count.assign(count.value + 1)
        return x

    target = ipu.Target(tiles_per_ipu=4, replicas=replicas)
    return ipu.compile(main, args=(X,), target=target, merge_remote_buffers=merged)


def on_numpy(x, runs):
    state = [np.full(64, n, np.float32) for n in range(3)]
    for _ in range(runs):
        given = x
        for n in range(3):
            state[n], given = state[n] * np.float32(0.5) + given, given * 2
    return state


@pytest.mark.parametrize(("replicas", "partition"), [(1, False), (2, False), (2, True)])
@pytest.mark.parametrize("merged", KINDS)
def test_state_is_that_of_variables(merged, replicas, partition, tmp_path):
    exe = compiled(merged, replicas, partition)
    session, again = exe.session(), exe.session()
    for _ in range(2):
        np.testing.assert_array_equal(session(X), X * 8)
        np.testing.assert_array_equal(exe.run_per_tile([X])[0], X * 8)
    session.save(tmp_path / "state.npz")
    assert sorted(np.load(tmp_path / "state.npz")) == sorted(session) == ["count", "m0", "m1", "m2"]
    again.load(tmp_path / "state.npz")
    again(X)
    for n, (two, three) in enumerate(zip(on_numpy(X, 2), on_numpy(X, 3), strict=True)):
        np.testing.assert_array_equal(session[f"m{n}"], two)
        np.testing.assert_array_equal(again[f"m{n}"], three)
    session["m1"] = np.zeros(64, np.float32)
    session(X)
    np.testing.assert_array_equal(session["m1"], X * 2)
    np.testing.assert_array_equal(session["m0"], on_numpy(X, 3)[0])


def test_rows_that_differ_between_replicas_are_apart_from_others():
    state = [ipu.Variable(np.zeros(4, np.float32), name, offload=True) for name in "abcd"]

    def main(x):
        for m in state[:2]:
            ipu.outlined(lambda x, m=m: m.assign(m.value + x))(x + ipu.replica_index().astype(np.float32))
        for m in state[2:]:
            ipu.outlined(lambda x, m=m: m.assign(x + m.value))(x)

    x = np.ones(4, np.float32)
    exe = ipu.compile(main, args=(x,), target=ipu.Target(tiles_per_ipu=2, replicas=2))
    assert [each in exe.mlir("l1") for each in ('variables = ["a", "b"]', 'variables = ["c", "d"]')] == [True, True]
    session = exe.session()
    session(x)
    session(x)
    exe.run_per_tile([x])
    assert [session[name][..., 0].tolist() for name in "abcd"] == [[2, 4], [2, 4], 2, 2]
    np.testing.assert_array_equal(exe.session()["b"], np.zeros((2, 4)))


def test_functions_take_the_number_of_the_row():
    loads = {merged: compiled(merged).mlir("l3").count("ipu.fetch") for merged in KINDS}
    assert loads == {"none": 4, "beneficial": 2, "all": 2}
    steps = [len(compiled(merged).profile().compilation.steps) for merged in KINDS]
    assert steps[1] == steps[2] < steps[0]
    cycles = {compiled(merged).profile([X]).total_cycles for merged in KINDS}
    assert len(cycles) == 1


def test_what_shares_no_code_is_merged_when_asked():
    buffers = {merged: compiled(merged, outlined=False).mlir("l1").count('"ipu.remote_buffer"') for merged in KINDS}
    assert buffers == {"none": 4, "beneficial": 4, "all": 2}
    exe = compiled("all", outlined=False)
    session = exe.session()
    session(X)
    for n, wanted in enumerate(on_numpy(X, 1)):
        np.testing.assert_array_equal(session[f"m{n}"], wanted)


def test_parts_of_rows_are_computed_in_the_function():
    merged, apart = (compiled(kind, replicas=2, partition=True) for kind in ("beneficial", "none"))
    assert 'type = tensor<3x32xf32>, variables = ["m0", "m1", "m2"], whole = tensor<3x64xf32>' in merged.mlir("l1")
    assert "reduce_scatter" in merged.mlir("l1") and "reduce_scatter" not in apart.mlir("l1")
    assert merged.profile([X]).total_cycles < apart.profile([X]).total_cycles


def test_programs_that_merge_others_share_what_variables_hold():
    a, b, c = (ipu.Variable(np.float32([n, n]), name, offload=True) for n, name in enumerate("abc"))

    def adding(*variables):
        def main():
            for each in variables:
                ipu.outlined(lambda each=each: each.assign(each.value + 1))()

        return ipu.compile(main, args=(), target=ipu.Target(tiles_per_ipu=2))

    first, second, third = adding(a, b), adding(c, a), adding(b)
    first(), second(), third(), first()
    assert [each.value.tolist() for each in (a, b, c)] == [[3, 3], [4, 4], [3, 3]]
    with pytest.raises(ipu.RunError, match="there is no remote buffer 'a_to_b'; there are: a, b"):
        first.session(files={"a_to_b": "f.npy"})


def test_outlined_functions_in_outlined_functions():
    state = [ipu.Variable(np.full(4, n, np.float32), f"s{n}", offload=True) for n in range(4)]

    def grown(m):
        return ipu.outlined(lambda x: m.assign(m.value * 2 + x))

    def pair(one, other):
        def both(x):
            grown(one)(x)
            grown(other)(x + 1)

        return ipu.outlined(both)

    def main(x):
        pair(state[0], state[1])(x)
        pair(state[2], state[3])(x)

    exe = ipu.compile(
        main, args=(np.ones(4, np.float32),), target=ipu.Target(tiles_per_ipu=2), merge_remote_buffers="all"
    )
    session = exe.session()
    session(np.ones(4, np.float32))
    assert [session[f"s{n}"][0] for n in range(4)] == [1, 4, 5, 8]
    assert exe.mlir("l1").count("ipu.remote_load") == 1


def test_wrong_option():
    with pytest.raises(ipu.CompileError, match="option 'which' of"):
        compiled("some")
    with pytest.raises(ipu.CompileError, match="give which to an ipu-merge-remote-buffers of your own pipeline="):
        ipu.compile(lambda x: x, args=(X,), pipeline="ipu-compile", merge_remote_buffers="all")
