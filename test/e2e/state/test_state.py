"""Programs with variables: both executors, run after run, against NumPy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.memory.bound import memory_bound
from ipu_mlir.dialects.memory.report import memory_report

F32 = np.float32


@dataclass(frozen=True)
class Case:
    """A program, and what it does to the values of its variables: ``step(values, x) -> results``."""

    name: str
    text: str
    step: Callable[[dict[str, np.ndarray], np.ndarray], list[np.ndarray]]


def _variable(name: str, type_: str, init: str) -> str:
    attributes = f'sym_name = "{name}", type = tensor<{type_}>, init = dense<{init}> : tensor<{type_}>'
    return f'"ipu.variable"() {{{attributes}}} : () -> ()\n'


_READ = '"ipu.read"() {{variable = @{0}}} : () -> tensor<{1}>'
_ASSIGN = '"ipu.assign"(%{2}) {{variable = @{0}}} : (tensor<{1}>) -> ()'


def _step_add(v, x):
    old = v["w"].copy()
    v["w"] = v["w"] + x
    return [old]


def _step_swap(v, x):
    v["w"], v["v"] = v["v"], v["w"] + x
    return []


def _step_matmul(v, x):
    v["m"] = v["m"] @ v["m"] + x[:, None]
    return []


def _step_transpose(v, x):
    v["m"] = (v["m"] + x).T
    return [v["m"].sum(1)]


def _step_loop(v, x):
    for _ in range(5):
        v["w"] = v["w"] + x
        if v["n"] % 2 == 0:
            v["v"] = v["w"].copy()
        v["n"] = v["n"] + np.int32(1)
    return []


def _step_row(v, x):
    v["m"] = v["m"].copy()
    v["m"][v["n"] % 4] = x
    v["n"] = v["n"] + np.int32(1)
    return []


def _step_reset(v, x):
    v["w"] = x.copy()
    return []


def _step_while(v, x):
    while v["n"] < 10:
        v["n"] = v["n"] + np.int32(3)
        v["w"] = v["w"] * x
    v["n"] = v["n"] - np.int32(10)
    return []


_W = _variable("w", "4xf32", "1.0")
_V = _variable("v", "4xf32", "[0.0, 1.0, 2.0, 3.0]")
_N = _variable("n", "i32", "0")
_M = _variable("m", "4x4xf32", "0.25")

CASES = [
    Case("add", _W + f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %w = {_READ.format("w", "4xf32")}
      %s = arith.addf %w, %x : tensor<4xf32>
      {_ASSIGN.format("w", "4xf32", "s")}
      return %w : tensor<4xf32>
    }}""", _step_add),
    Case("swap", _W + _V + f"""func.func @main(%x: tensor<4xf32>) {{
      %w = {_READ.format("w", "4xf32")}
      %v = {_READ.format("v", "4xf32")}
      %s = arith.addf %w, %x : tensor<4xf32>
      {_ASSIGN.format("w", "4xf32", "v")}
      {_ASSIGN.format("v", "4xf32", "s")}
      return
    }}""", _step_swap),
    Case("product with itself", _M + f"""func.func @main(%x: tensor<4xf32>) {{
      %m = {_READ.format("m", "4x4xf32")}
      %e = tensor.empty() : tensor<4x4xf32>
      %b = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
      %p = linalg.matmul ins(%m, %m : tensor<4x4xf32>, tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
      {_ASSIGN.format("m", "4x4xf32", "p")}
      return
    }}""", _step_matmul),
    Case("transpose", _M + f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %m = {_READ.format("m", "4x4xf32")}
      %e = tensor.empty() : tensor<4x4xf32>
      %b = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
      %s = arith.addf %m, %b : tensor<4x4xf32>
      %t = linalg.transpose ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
      {_ASSIGN.format("m", "4x4xf32", "t")}
      %again = {_READ.format("m", "4x4xf32")}
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %r = linalg.reduce {{arith.addf}} ins(%again : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
      return %r : tensor<4xf32>
    }}""", _step_transpose),
    Case("loop with a branch", _W + _V + _N + f"""func.func @main(%x: tensor<4xf32>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %zero = arith.constant 0 : i32
      %two = arith.constant 2 : i32
      %one = arith.constant dense<1> : tensor<i32>
      scf.for %i = %c0 to %c5 step %c1 {{
        %w = {_READ.format("w", "4xf32")}
        %s = arith.addf %w, %x : tensor<4xf32>
        {_ASSIGN.format("w", "4xf32", "s")}
        %n = {_READ.format("n", "i32")}
        %k = tensor.extract %n[] : tensor<i32>
        %rest = arith.remsi %k, %two : i32
        %even = arith.cmpi eq, %rest, %zero : i32
        scf.if %even {{
          %now = {_READ.format("w", "4xf32")}
          {_ASSIGN.format("v", "4xf32", "now")}
        }}
        %m = arith.addi %n, %one : tensor<i32>
        {_ASSIGN.format("n", "i32", "m")}
      }}
      return
    }}""", _step_loop),
    Case("row", _M + _N + f"""func.func @main(%x: tensor<4xf32>) {{
      %four = arith.constant 4 : i32
      %one = arith.constant dense<1> : tensor<i32>
      %m = {_READ.format("m", "4x4xf32")}
      %n = {_READ.format("n", "i32")}
      %k = tensor.extract %n[] : tensor<i32>
      %r = arith.remsi %k, %four : i32
      %at = arith.index_cast %r : i32 to index
      %new = tensor.insert_slice %x into %m[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>
      {_ASSIGN.format("m", "4x4xf32", "new")}
      %next = arith.addi %n, %one : tensor<i32>
      {_ASSIGN.format("n", "i32", "next")}
      return
    }}""", _step_row),
    Case("reset", _W + f"""func.func @main(%x: tensor<4xf32>) {{
      {_ASSIGN.format("w", "4xf32", "x")}
      return
    }}""", _step_reset),
    Case("while", _W + _N + f"""func.func @main(%x: tensor<4xf32>) {{
      %limit = arith.constant 10 : i32
      %three = arith.constant dense<3> : tensor<i32>
      %ten = arith.constant dense<10> : tensor<i32>
      scf.while : () -> () {{
        %n = {_READ.format("n", "i32")}
        %k = tensor.extract %n[] : tensor<i32>
        %go = arith.cmpi slt, %k, %limit : i32
        scf.condition(%go)
      }} do {{
        %n = {_READ.format("n", "i32")}
        %m = arith.addi %n, %three : tensor<i32>
        {_ASSIGN.format("n", "i32", "m")}
        %w = {_READ.format("w", "4xf32")}
        %p = arith.mulf %w, %x : tensor<4xf32>
        {_ASSIGN.format("w", "4xf32", "p")}
        scf.yield
      }}
      %n = {_READ.format("n", "i32")}
      %rest = arith.subi %n, %ten : tensor<i32>
      {_ASSIGN.format("n", "i32", "rest")}
      return
    }}""", _step_while),
]  # fmt: skip


@pytest.mark.parametrize("tiles", [1, 3, 16])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_executors_change_variables_as_numpy_does(case: Case, tiles: int) -> None:
    executable = ipu.compile(case.text, target=ipu.Target(ipus=1, tiles_per_ipu=tiles))
    session = executable.session()
    names = list(session)
    values = {name: session[name] for name in names}
    rng = np.random.default_rng(7)
    for _ in range(4):
        x = (1 + rng.integers(0, 3, 4) / 4).astype(F32)  # powers of two: all sums and products are exact for a while
        wanted = case.step(values, x)
        for results in (session.run("main", x), executable.run_per_tile([x])):
            found = results if isinstance(results, list | tuple) else [results]
            for array, want in zip(found, wanted, strict=True):
                np.testing.assert_allclose(array, want, rtol=1e-6)
        for name in names:
            np.testing.assert_allclose(session[name], values[name], rtol=1e-5)


def test_an_update_copies_nothing() -> None:
    """The generated program is what one would write by hand with ``out=``."""
    text, target = CASES[0].text.replace("return %w", "return %x"), ipu.Target(tiles_per_ipu=4)
    source = ipu.compile(text, target=target, kernels="never").source()
    lines = [line.strip() for line in source.partition("def main")[2].splitlines() if "(" in line and "#" not in line]
    assert lines[1:] == ["add(w, arg0, w)", "copyto(result0, arg0, 'unsafe')"]


def test_memory_holds_a_variable_once() -> None:
    exe = ipu.compile(CASES[0].text, target=ipu.Target(tiles_per_ipu=4))
    names = [each.name for each in exe.profile().compilation.variables]
    assert names.count("@w") == 1


def test_variables_do_not_come_from_the_host() -> None:
    text = CASES[0].text.replace("%x: tensor<4xf32>", "").replace("%s = arith.addf %w, %x", "%s = arith.addf %w, %w")
    text = text.replace("-> tensor<4xf32> {", "{").replace("return %w : tensor<4xf32>", "return")
    profile = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4)).profile()
    assert profile.execution.cycles.host == 0 < profile.execution.cycles.compute


def test_what_is_only_assigned_needs_no_value() -> None:
    text = _W.replace(", init = dense<1.0> : tensor<4xf32>", "") + CASES[6].text.removeprefix(_W)
    executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4))
    executable.run_per_tile([np.ones(4, F32)])
    session = executable.session()
    with pytest.raises(ipu.RunError, match="variable 'w' has no value yet"):
        _ = session["w"]
    session(np.ones(4, F32))
    np.testing.assert_array_equal(session["w"], np.ones(4))


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E5M2", "f8E4M3FN"])
def test_narrow_floats_are_kept_as_their_numbers(name: str) -> None:
    text = CASES[0].text.replace("f32", name)
    executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4))
    x = np.array([0.5, 1.5, 3, 7]).astype(executable.argument_specs[0].dtype)
    first, second = executable.run([x])[0], executable.run_per_tile([x])[0]
    third = executable.run([x])[0]
    assert first.dtype == x.dtype
    np.testing.assert_array_equal(first.astype(F32), [1, 1, 1, 1])
    np.testing.assert_array_equal(second.astype(F32), (1 + x.astype(F32)).astype(x.dtype).astype(F32))
    np.testing.assert_array_equal(third.astype(F32), (second.astype(F32) + x.astype(F32)).astype(x.dtype).astype(F32))
    session = executable.session()
    session["w"] = x
    assert session["w"].dtype == x.dtype
    np.testing.assert_array_equal(session["w"].astype(F32), x.astype(F32))


def test_memory_counts_functions_that_share_variables_together() -> None:
    """Each function finds the code of all on the tiles, variables once, and buffers of its own."""
    reads = f"""func.func @reads(%y: tensor<64xf32>) -> tensor<64xf32> {{
      %v = {_READ.format("v", "4xf32")}
      %s = tensor.extract_slice %v[0] [1] [1] : tensor<4xf32> to tensor<f32>
      %e = tensor.empty() : tensor<64xf32>
      %b = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<64xf32>) dimensions = [0]
      %r = linalg.exp ins(%b : tensor<64xf32>) outs(%y : tensor<64xf32>) -> tensor<64xf32>
      return %r : tensor<64xf32>
    }}"""
    target = ipu.Target(ipus=1, tiles_per_ipu=4)
    both = ipu.compile(CASES[0].text + _V + reads, entry=["main", "reads"], target=target)
    alone = {name: ipu.compile(CASES[0].text + _V + reads, entry=name, target=target) for name in both}

    reports = {name: memory_report(both[name].module().operation, name) for name in both}
    own = {name: memory_report(alone[name].module().operation, name) for name in both}
    for name in both:
        for code in ("control_code", "exchange_code", "vertex_code"):
            largest = max(each.categories[code].values.max() for each in own.values())
            assert largest <= reports[name].categories[code].values.max()
            assert (reports[name].categories[code].values == reports["main"].categories[code].values).all()
        names = [variable.name for variable in reports[name].variables]
        assert names.count("@w") == names.count("@v") == 1
        assert memory_bound(both[name].module().operation, name) >= reports[name].peak.values.max()
    control = [each.categories["control_code"].values.max() for each in own.values()]
    assert reports["main"].categories["control_code"].values.max() == sum(control)
