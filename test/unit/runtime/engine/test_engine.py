"""Running: inputs are safe, results are the caller's, errors name the argument, threads do not meet."""

import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

SHAPE = "256x512xf32"
TEXT = f"""func.func @main(%x: memref<{SHAPE}>, %s: memref<f32>) -> memref<{SHAPE}> {{
  %t = memref.alloc() : memref<{SHAPE}>
  linalg.abs ins(%x : memref<{SHAPE}>) outs(%t : memref<{SHAPE}>)
  %o = memref.alloc() : memref<{SHAPE}>
  linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1)
    -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel"]}} ins(%t, %s : memref<{SHAPE}>, memref<f32>) outs(%o : memref<{SHAPE}>) {{
  ^bb0(%a: f32, %b: f32, %z: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }}
  return %o : memref<{SHAPE}>
}}"""
KERNELS = TranslatorOptions(block_min_elementwise_us=-1, block_min_us=-1, block_min_array=0, block_elements=4096)
BLOCKS = replace(KERNELS, kernels="never")


@pytest.fixture(scope="module", params=[None, BLOCKS, KERNELS], ids=["straight", "blocks", "kernels"])
def engine(request) -> Engine:
    with ipu.context(), ir.Location.unknown():
        return Engine(ir.Module.parse(TEXT), options=request.param)


def inputs(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((256, 512)).astype(np.float32), np.float32(seed + 1) * np.ones((), np.float32)]


def expected(values: list[np.ndarray]) -> np.ndarray:
    return np.abs(values[0]) * values[1]


def test_inputs_may_be_read_only_and_stay_as_they_are(engine):
    values = inputs(0)
    values[0].flags.writeable = False
    before = values[0].copy()
    np.testing.assert_array_equal(engine.run(values)[0], expected(values))
    np.testing.assert_array_equal(values[0], before)


def test_inputs_may_lie_in_any_order(engine):
    x, s = inputs(1)
    np.testing.assert_array_equal(engine.run([np.asfortranarray(x), s])[0], expected([x, s]))
    wide = np.zeros((256, 1024), np.float32)
    wide[:, ::2] = x
    np.testing.assert_array_equal(engine.run([wide[:, ::2], s])[0], expected([x, s]))


def test_results_that_are_held_are_never_written_again(engine):
    kept = [(engine.run(inputs(seed))[0], expected(inputs(seed))) for seed in range(8)]
    part = engine.run(inputs(9))[0][3:5, ::2]  # only a view is held
    engine.run(inputs(10))
    for result, want in kept:
        np.testing.assert_array_equal(result, want)
    np.testing.assert_array_equal(part, expected(inputs(9))[3:5, ::2])


def test_results_that_were_dropped_are_used_again(engine):
    first = engine.run(inputs(0))[0].ctypes.data
    assert first % 64 == 0
    assert any(engine.run(inputs(0))[0].ctypes.data == first for _ in range(4))


def test_a_result_may_be_changed_and_handed_in_again(engine):
    values = inputs(2)
    result = engine.run(values)[0]
    result[:] = values[0]
    again = engine.run([result, values[1]])[0]
    np.testing.assert_array_equal(again, expected(values))
    np.testing.assert_array_equal(result, values[0])


def test_many_threads_at_a_time(engine):
    wrong = []

    def work(seed: int) -> None:
        values = inputs(seed)
        want = expected(values)
        for _ in range(5):
            if not np.array_equal(engine.run(values)[0], want):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_overflow_and_nan_are_values_without_warnings(engine):
    x, s = inputs(3)
    x[0, 0], x[200, 0] = 3e38, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = engine.run([x, s])[0]
    assert np.isinf(result[0, 0]) and np.isnan(result[200, 0])
    with pytest.warns(RuntimeWarning):  # the caller's own setting is as it was
        np.exp(np.float32([1000.0]))


@pytest.mark.parametrize("scalar", [2, 2.0, [2.0][0], np.float32(2)])
def test_python_numbers_are_taken_for_scalars(engine, scalar):
    x, _ = inputs(4)
    np.testing.assert_array_equal(engine.run([x, scalar])[0], np.abs(x) * np.float32(2))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"0 inputs given, 2 expected \(arg0: 256x512xfloat32, arg1: float32\)"),
        ([np.zeros((256, 512)), 1.0], r"input 0 \(arg0\) has dtype float64, expected float32; .*astype\('float32'\)"),
        ([np.zeros((512, 256), np.float32), 1.0], r"input 0 \(arg0\) has shape \(512, 256\), expected \(256, 512\)"),
        ([np.zeros((256, 512), np.float32), np.int32(1)], r"input 1 \(arg1\) has dtype int32"),
        ([np.zeros((256, 512), np.float32), "one"], r"input 1 \(arg1\) is 'one', expected numbers"),
        ([np.zeros((256, 512), np.float32), [[1.0], [2.0, 3.0]]], r"input 1 \(arg1\) is .*expected an array"),
        ([np.zeros((256, 512), np.float32), None], r"input 1 \(arg1\) is None"),
    ],
)
def test_wrong_inputs_are_named(engine, values, message):
    with pytest.raises(RunError, match=message):
        engine.run(values)


def test_lists_are_converted_and_big_numbers_refused():
    text = """func.func @main(%x: memref<2xi8>) -> memref<2xi8> {
      return %x : memref<2xi8>
    }"""
    with ipu.context(), ir.Location.unknown():
        made = Engine(ir.Module.parse(text))
    np.testing.assert_array_equal(made.run([[1, -2]])[0], np.array([1, -2], np.int8))
    with pytest.raises(RunError, match=r"input 0 \(arg0\)"):
        made.run([[1, 300]])
    with pytest.raises(RunError, match=r"input 0 \(arg0\)"):
        made.run([[1.5, 2.0]])


def test_an_error_in_a_run_leaves_the_engine_usable(engine):
    with pytest.raises(RunError):
        engine.run([1])
    values = inputs(5)
    np.testing.assert_array_equal(engine.run(values)[0], expected(values))


def test_what_an_engine_takes_and_gives(engine):
    assert [(a.name, a.shape, str(a.dtype)) for a in engine.arguments] == [
        ("arg0", (256, 512), "float32"),
        ("arg1", (), "float32"),
    ]
    assert [(r.shape, str(r.dtype)) for r in engine.results] == [((256, 512), "float32")]


def test_temporaries_that_do_not_fit_are_an_error_of_the_run(monkeypatch):
    """What is known without a run stays known: making the engine takes no memory for data."""

    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr("ipu_mlir.runtime.engine.engine.Memory", refuse)
    with ipu.context(), ir.Location.unknown():
        made = Engine(ir.Module.parse(TEXT))
    with pytest.raises(RunError, match=rf"need {made.translation.temporary_bytes:,} B.*profile\(\)"):
        made.run(inputs(0))
