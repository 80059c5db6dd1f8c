"""Running a compiled program, and looking at it."""

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(tiles_per_ipu=4)
X = np.arange(24, dtype=np.float32).reshape(6, 4)


@pytest.fixture(scope="module")
def exe():
    def program(x, params):
        return {"sum": x + params["bias"] + X[0], "total": x.sum()}

    specs = [ipu.TensorSpec((6, 4)), {"bias": ipu.TensorSpec(4)}]
    return ipu.compile(ipu.function(program), args=specs, target=SMALL)


def test_run_takes_and_gives_flat_lists(exe):
    before = X.copy()
    total, count = exe.run([X, X[1]])
    np.testing.assert_allclose(total, X + X[1] + X[0])
    np.testing.assert_allclose(count, X.sum())
    np.testing.assert_array_equal(X, before)
    assert not np.shares_memory(exe.run([X, X[1]])[0], total)


def test_run_is_the_engines_own():
    exe = ipu.compile(ipu.function(lambda x: x + 1), args=[X], target=SMALL)
    assert exe.run.__func__.__qualname__ == "Engine.run"


def test_call_keeps_the_functions_structure(exe):
    result = exe(X, {"bias": X[1]})
    np.testing.assert_allclose(result["total"], X.sum())
    assert list(result) == ["sum", "total"]


def test_per_tile_agrees(exe):
    for fast, exact in zip(exe.run([X, X[1]]), exe.run_per_tile([X, X[1]]), strict=True):
        np.testing.assert_allclose(fast, exact, rtol=1e-6)


def test_specs_and_repr(exe):
    assert exe.argument_specs == (ipu.TensorSpec((6, 4)), ipu.TensorSpec((4,)))
    assert exe.result_specs == (ipu.TensorSpec((6, 4)), ipu.TensorSpec(()))
    assert repr(exe) == "<Executable main(float32[6, 4], float32[4]) -> (float32[6, 4], float32[])>"


def test_arguments_and_results_may_be_scalars():
    program = """func.func @main(%x: f16, %n: i64, %a: tensor<2xf32>) -> (f16, tensor<2xf32>, i64) {
      %y = arith.addf %x, %x : f16
      return %y, %a, %n : f16, tensor<2xf32>, i64
    }"""
    exe = ipu.compile(program, target=SMALL)
    inputs = [np.float16(1.5), np.int64(7), np.float32([1, 2])]
    for results in (exe.run(inputs), exe.run_per_tile(inputs)):
        assert [np.asarray(result).tolist() for result in results] == [3.0, [1.0, 2.0], 7]
    assert exe.result_specs == (ipu.TensorSpec((), "float16"), ipu.TensorSpec(2), ipu.TensorSpec((), "int64"))


def test_wrong_inputs_are_refused(exe):
    with pytest.raises(ipu.RunError):
        exe.run([X])
    with pytest.raises(ipu.RunError):
        exe.run([X.astype(np.float64), X[1]])


def test_source_is_the_numpy_program(exe):
    compile(exe.source(), "<source>", "exec")
    calls = ipu.compile(ipu.function(lambda x: x + x.sum()), args=[X], target=SMALL, kernels="never").source()
    assert "from numpy import" in calls and "add" in calls


def test_pass_timings_name_every_pass(exe):
    names = [time.name for time in exe.pass_timings]
    assert "ipu-partition" in names and "one-shot-bufferize" in names
    assert all(time.seconds >= 0 for time in exe.pass_timings)


def test_placements_say_where_tensors_lie(exe):
    found = {(each.kind, each.name): each for each in exe.placements()}
    assert set(found) >= {
        ("argument", "x"),
        ("argument", "params['bias']"),
        ("result", "result['sum']"),
        ("result", "result['total']"),
    }
    assert [each for each in exe.placements() if each.kind == "constant"]
    x = found["argument", "x"]
    tiles, counts = x.mapping.elements_per_tile()
    assert (x.spec, x.num_tiles) == (ipu.TensorSpec((6, 4)), len(tiles))
    assert (x.min_tile_bytes, x.max_tile_bytes) == (4 * counts.min(), 4 * counts.max())
    assert counts.sum() == 24
    total = found["result", "result['total']"]
    assert (total.num_tiles, total.max_tile_bytes) == (1, 4)


def test_placements_print_as_a_table(exe):
    header, *rows = str(exe.placements()).splitlines()
    assert header.split() == ["kind", "name", "tensor", "tiles", "min", "B/tile", "max", "B/tile", "where"]
    assert len(rows) == len(exe.placements())
    assert rows[0].startswith("argument  x ") and "float32[6, 4]" in rows[0]


def test_an_unplaced_module_has_no_placements():
    text = "func.func @main(%x: memref<4xf32>) -> memref<4xf32> { return %x : memref<4xf32> }"
    with pytest.raises(ipu.CompileError, match="argument arg0 of type memref<4xf32> lies on no tile"):
        ipu.compile(text, pipeline=[]).placements()
