"""Programs and errors in other processes: pickled, copied, forked, spawned."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.portable import NotPortableError
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import IpuError, Settings
from ipu_mlir.passes.placement.planner.fastest import Fastest
from ipu_mlir.tracing.errors import TraceError
from ipu_mlir.tracing.user_places import Place

SMALL = ipu.Target(tiles_per_ipu=4)
TEXT = """
func.func @scale(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %weights = arith.constant dense<[WEIGHTS]> : tensor<16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.broadcast ins(%weights : tensor<16xf32>) outs(%e : tensor<8x16xf32>) dimensions = [0]
  %y = linalg.mul ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
""".replace("WEIGHTS", ", ".join(f"{number}.0" for number in range(16)))
X = np.arange(128, dtype=np.float32).reshape(8, 16)


class Pair(NamedTuple):
    first: Any
    second: Any


@ipu.function
def doubled(pair: Pair, scale: float = 2.0) -> Any:
    """A traced function, at the top of a module."""
    return {"sum": (pair.first + pair.second) * scale, "pair": pair}


class Chooser:
    """A planner that a pickle can hold."""

    def __call__(self, operation: Any, target: Any) -> Any:
        return Fastest()(operation, target)


@pytest.fixture(scope="module")
def exe():
    return ipu.compile(TEXT, target=SMALL)


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("copied", [again, copy.copy, copy.deepcopy, lambda exe: again(again(exe))])
def test_a_copy_is_the_same_program(exe, copied) -> None:
    exe.run([X])
    other = copied(exe)
    assert other is not exe and repr(other) == repr(exe) and other.source() == exe.source()
    np.testing.assert_array_equal(other(X), exe(X))
    np.testing.assert_array_equal(other.run_per_tile([X])[0], exe(X))
    assert [other.mlir(level) for level in ("l0", "l1", "l2", "l3")] == [
        exe.mlir(level) for level in ("l0", "l1", "l2", "l3")
    ]
    assert other.profile().to_json() == exe.profile().to_json()
    assert str(other.placements()) == str(exe.placements())
    assert other.pass_timings == exe.pass_timings


def test_copies_have_memory_of_their_own(exe) -> None:
    other = copy.deepcopy(exe)
    first, second = exe(X), other(X)
    assert not np.shares_memory(first, second)


def test_a_pickle_holds_a_constant_that_is_one_number_as_one() -> None:
    text = TEXT.replace(TEXT[TEXT.index("dense<") : TEXT.index("> : tensor<16xf32>")], "dense<3.0")
    big = ipu.compile(text.replace("16x", "65536x").replace("<16x", "<65536x").replace("x16xf32", "x65536xf32"))
    assert len(pickle.dumps(big)) < 100_000


def test_a_traced_function_keeps_its_structure() -> None:
    pair = Pair(X, X)
    exe = again(ipu.compile(doubled, args=[pair], target=SMALL))
    result = exe(pair)
    np.testing.assert_array_equal(result["sum"], 4 * X)
    assert isinstance(result["pair"], Pair)
    assert again(doubled) is doubled and copy.deepcopy(doubled) is doubled


def test_what_cannot_be_pickled_is_named() -> None:
    exe = ipu.compile(TEXT, target=SMALL, planner=lambda operation, target: Chooser()(operation, target))
    with pytest.raises(NotPortableError, match=r"a planner or a pass .* cannot: .*<lambda>.* at the top of a module"):
        pickle.dumps(exe)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(exe)
    np.testing.assert_array_equal(copy.deepcopy(exe)(X), exe(X))

    class Local(NamedTuple):
        x: Any

    exe = ipu.compile(ipu.function(lambda pair: pair.x + 1), args=[Local(X)], target=SMALL)
    with pytest.raises(NotPortableError, match="a value or a type among the arguments"):
        pickle.dumps(exe)


def test_planners_and_passes_go_along() -> None:
    exe = again(ipu.compile(TEXT, target=SMALL, planner=Chooser()))
    assert exe.mlir("l2") and exe(X).shape == X.shape
    own = again(ipu.compile(TEXT, pipeline=["ipu-set-target{tiles=3}", "ipu-compile"]))
    np.testing.assert_array_equal(own(X), exe(X))


def test_a_lambda_is_traced_once_and_its_program_goes_along() -> None:
    exe = again(ipu.compile(ipu.function(lambda x, n=3: x * n), args=[X], target=SMALL))
    np.testing.assert_array_equal(exe(X), 3 * X)


def test_narrow_floats_go_along() -> None:
    half = X.astype(ml_dtypes.bfloat16)
    exe = again(ipu.compile(TEXT.replace("f32", "bf16"), target=SMALL))
    assert exe(half).dtype == half.dtype and (exe(half)[:, :3] == half[:, :3] * np.arange(3)).all()


def test_a_program_of_any_size_goes_along_with_what_it_was_compiled_to() -> None:
    body = "%y = math.exp %x : tensor<?xf32> return %y : tensor<?xf32>"
    text = f"func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {{ {body} }}"
    program = ipu.compile(text, target=SMALL)
    program(X[0])
    for other in (again(program), copy.deepcopy(program), copy.copy(program)):
        assert list(other._compiled) == [(16,)]
        np.testing.assert_array_equal(other(X[0]), program(X[0]))
        np.testing.assert_array_equal(other(X[:, 0]), program(X[:, 0]))


POOL = """
import multiprocessing, sys
import numpy as np
import ipu_mlir as ipu

@ipu.function
def normalised(x, scale=2.0):
    return ipu.nn.softmax(x) * scale

def refused(rows):
    program = ipu.function(lambda x: x @ x)
    ipu.compile(program, args=[ipu.TensorSpec((rows, rows))], target=ipu.Target(tiles_per_ipu=4))

if __name__ == "__main__":
    x = np.random.default_rng(0).standard_normal((4096, 512)).astype(np.float32)
    exe = ipu.compile(normalised, args=[x])
    expected = [exe(x + number) for number in range(3)]
    assert "run_blocks" in exe.source(), "it uses several threads"
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        for found, wanted in zip(pool.map(exe, [x, x + 1, x + 2]), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(pool.apply(normalised, [x]), expected[0])
        try:
            pool.apply(refused, [2048])
        except ipu.OutOfMemoryError as error:
            (problem,) = error.problems
            assert problem.over_bytes == error.report.peak.largest() - error.report.limit > 0
            print("refused")
"""


# A new process that has nothing of this one is the hardest; the other ways are in the long tests.
@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=() if method == "spawn" else pytest.mark.slow)
        for method in multiprocessing.get_all_start_methods()
    ],
)
def test_a_pool_runs_a_program(tmp_path: Path, method: str) -> None:
    (tmp_path / "script.py").write_text(POOL)
    script = [sys.executable, "-W", "error::DeprecationWarning:ipu_mlir", "script.py", method]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


@pytest.mark.parametrize(
    "error",
    [
        ipu.CompileError("one", settings=(Settings(ipus=2),)),
        DiagnosedError([Diagnostic("two", "a.mlir", 1, 2)]),
        TraceError("three", Place("a.py", 3, 1)),
        *(kind("four") for kind in IpuError.__subclasses__()),
    ],
)
def test_errors_go_along(error: IpuError) -> None:
    other = again(error)
    assert type(other) is type(error) and str(other) == str(error) and vars(other) == vars(error)


def test_every_kind_of_error_can_be_raised_in_another_process() -> None:
    """What an error is made of decides what a pool can pass: an error that cannot be unpickled hangs it."""

    def kinds(kind: type[IpuError]) -> list[type[IpuError]]:
        return [kind, *(each for sub in kind.__subclasses__() for each in kinds(sub))]

    for kind in kinds(IpuError):
        error = kind.__new__(kind, "text")
        error.__dict__["note"] = 1
        assert vars(again(error)) == {"note": 1}, kind


def test_advice_that_was_tried_travels_along():
    with pytest.raises(ipu.OutOfMemoryError) as caught:
        small = ipu.Target(tiles_per_ipu=2, bytes_per_tile=20_000)
        ipu.compile(lambda x: np.exp(x) + x.T, args=[ipu.TensorSpec((64, 64))], target=small)
    (problem,), (other,) = caught.value.problems, pickle.loads(pickle.dumps(caught.value)).problems
    assert problem.tried and other.tried and other.advice == problem.advice
    assert any(each.compiled for each in other.advice)
