"""Variables in remote memory: as those on tiles, for sessions and for both executors."""

import numpy as np
import pytest

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def training(offload):
    """A function that reads and assigns a structure of variables in loops and branches."""
    params = ipu.Variable(
        {"w": np.arange(6, dtype=np.float32), "n": np.int32(0), "u": np.uint8([1, 2])}, name="params", offload=offload
    )

    def main(x):
        def body(i, total):
            p = params.value
            step = ipu.cond(p["n"] % 2 == 0, lambda: p["w"] + x, lambda: p["w"] * 2)
            params.assign({"w": step, "n": p["n"] + 1, "u": p["u"] + np.uint8(1)})
            return total + params.value["w"]

        return ipu.fori_loop(0, 3, body, np.zeros_like(x))

    return ipu.compile(main, args=(np.ones(6, np.float32),), target=TARGET), params


def test_as_on_tiles(tmp_path):
    (on_tiles, _), (off, params) = training(offload=False), training(offload=True)
    one, other = on_tiles.session(), off.session()
    x = np.full(6, 3, np.float32)
    for _ in range(2):
        np.testing.assert_array_equal(one(x), other(x))
        np.testing.assert_array_equal(on_tiles.run_per_tile([x])[0], off.run_per_tile([x])[0])
    for name, value in one["params"].items():
        np.testing.assert_array_equal(value, other["params"][name])
        np.testing.assert_array_equal(value, params.value[name])
        assert value.dtype == other["params"][name].dtype
    one.save(tmp_path / "state.npz")
    other["params"] = {"w": np.zeros(6, np.float32), "n": np.int32(0), "u": np.uint8([0, 0])}
    assert not other["params"]["w"].any()
    other.load(tmp_path / "state.npz")
    np.testing.assert_array_equal(one(x), other(x))
    off.profile([x])
    assert list(other) == ["params"] and int(other["params"]["n"]) == 9


def test_only_what_is_used_takes_memory_of_tiles():
    def peak(offload):
        layers = [ipu.Variable(np.ones(4096, np.float32), name=f"w{n}", offload=offload) for n in range(8)]

        def main():
            for w in layers:
                w.assign(w.value * np.float32(0.5))

        return ipu.compile(main, args=(), target=TARGET).profile().compilation.memory.worst_bytes

    assert peak(offload=True) < peak(offload=False) / 2


def test_functions_share_what_the_variable_holds():
    w = ipu.Variable(np.zeros(3, np.float16), name="w", offload=True)
    add = ipu.function(lambda x: w.assign(w.value + x), target=TARGET)
    double = ipu.function(lambda: w.assign(w.value * np.float16(2)), target=TARGET)
    add(np.float16([1, 2, 3]))
    double()
    np.testing.assert_array_equal(w.value, np.float16([2, 4, 6]))


def test_in_one_function_and_not_in_the_other():
    w = ipu.Variable(np.zeros(3, np.float32), name="w")
    passes = ["ipu-offload-variables{minimum-bytes=8}", "ipu-normalize", "ipu-place", "ipu-lower"]
    ipu.compile(lambda x: w.assign(w.value + x), args=(np.float32([1, 2, 3]),), target=TARGET)(np.float32([1, 2, 3]))
    other = ipu.compile(lambda: w.assign(w.value * 2), args=(), target=TARGET, pipeline=passes)
    with pytest.raises(
        ipu.RunError, match="variable 'w' is in remote memory for some functions and on tiles for others"
    ):
        other()


def test_without_a_value_to_begin_with():
    with pytest.raises(ValueError, match="variable w has a tensor without elements, and remote memory has none such"):
        ipu.Variable([np.zeros(3), np.zeros((0, 3))], name="w", offload=True)
    with pytest.raises(TypeError, match="variable w has no value to begin with, and what is offloaded needs one"):
        ipu.Variable(ipu.TensorSpec(3), name="w", offload=True)


def test_state_that_loops_and_branches_carry_is_on_no_tile_in_between():
    x0 = np.linspace(-1, 1, 6, dtype=np.float32)

    def made(offload):
        state = ipu.Variable(x0, name="state", offload=offload)

        def main(x, n):
            def body(i, carried):
                held, total = carried
                total = total + np.tanh(x * total)
                return ipu.cond(i % 2 == 1, lambda: (held * 2 + total, total), lambda: (held, total))

            held, total = ipu.fori_loop(0, n, body, (state.value, x))
            state.assign(held)
            return total, held

        return ipu.compile(main, args=[x0, np.int32(4)], target=TARGET)

    plain, offloaded, on_tiles = made(False), made(True), made(True)
    for n in (0, 1, 4):
        args = [np.full_like(x0, 0.5), np.int32(n)]
        wanted = plain(*args)
        for given, by_tiles, value in zip(offloaded(*args), on_tiles.run_per_tile(args), wanted, strict=True):
            np.testing.assert_array_equal(given, value)
            np.testing.assert_allclose(by_tiles, value, rtol=1e-6)  # kernels have a tanh of their own
    assert "scf.if" in offloaded.mlir("l1").partition("ipu.remote_load")[0]
