"""An argmax in each of the forms that front ends write: both executors find what its loop finds, NaN and zeros too."""

import numpy as np
import pytest

import ipu_mlir

COMBINES = {
    "torch": """
    %a = arith.{better}imumf %old, %new : f32
    %is_better = arith.cmpf o{more}t, %new, %old : f32
    %b = arith.select %is_better, %here, %place : i32""",
    "xla": """
    %keeps = arith.cmpf o{more}e, %old, %new : f32
    %a = arith.select %keeps, %old, %new : f32
    %same = arith.cmpf oeq, %old, %new : f32
    %least = arith.minsi %place, %here : i32
    %other = arith.select %keeps, %place, %here : i32
    %b = arith.select %same, %least, %other : i32""",
    "jax": """
    %m = arith.cmpf o{more}t, %old, %new : f32
    %nan = arith.cmpf une, %old, %old : f32
    %keeps = arith.ori %nan, %m : i1
    %same = arith.cmpf oeq, %new, %old : f32
    %before = arith.cmpi sgt, %here, %place : i32
    %tie = arith.andi %before, %same : i1
    %keeps_place = arith.ori %tie, %keeps : i1
    %a = arith.select %keeps, %old, %new : f32
    %b = arith.select %keeps_place, %place, %here : i32""",
}
PROGRAM = """
func.func @main(%x: tensor<6x7x5xf32>) -> ({results}) {{
  %worst = arith.constant {worst} : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<{shape}xf32>
  %f = tensor.empty() : tensor<{shape}xi32>
  %best = linalg.fill ins(%worst : f32) outs(%e : tensor<{shape}xf32>) -> tensor<{shape}xf32>
  %at = linalg.fill ins(%zero : i32) outs(%f : tensor<{shape}xi32>) -> tensor<{shape}xi32>
  %r:2 = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> ({kept})>,
                                           affine_map<(i, j, k) -> ({kept})>], iterator_types = [{kinds}]}}
      ins(%x : tensor<6x7x5xf32>) outs(%best, %at : tensor<{shape}xf32>, tensor<{shape}xi32>) {{
  ^bb0(%in: f32, %old: f32, %place: i32):
    %new = arith.mulf %in, %in : f32
    %j = linalg.index {axis} : index
    %here = arith.index_cast %j : index to i32{combine}
    linalg.yield %a, %b : f32, i32
  }} -> (tensor<{shape}xf32>, tensor<{shape}xi32>)
  return {returned}
}}
"""


def program(form: str, better: str, axis: int, with_value: bool) -> str:
    sizes = [size for loop, size in enumerate((6, 7, 5)) if loop != axis]
    shape = "x".join(map(str, sizes))
    results = [f"tensor<{shape}xf32>"] * with_value + [f"tensor<{shape}xi32>"]
    names = ["%r#0"] * with_value + ["%r#1"]
    text = PROGRAM.format(
        worst="0xFF800000" if better == "max" else "0x7F800000",
        shape=shape,
        kept=", ".join(name for loop, name in enumerate("ijk") if loop != axis),
        kinds=", ".join('"reduction"' if loop == axis else '"parallel"' for loop in range(3)),
        axis=axis,
        combine=COMBINES[form].format(better=better, more="g" if better == "max" else "l"),
        results=", ".join(results),
        returned=f"{', '.join(names)} : {', '.join(results)}",
    )
    return text if form != "jax" or not with_value else text.replace("mulf %in, %in", "addf %in, %in")


def expected(form: str, better: str, row: np.ndarray) -> tuple[np.float32, int]:
    """The loop."""
    sign = 1 if better == "max" else -1
    best, at = np.float32(-np.inf * sign), 0
    for here, new in enumerate(row):
        is_better = sign * new > sign * best
        if form == "torch":
            at = here if is_better else at
            best = (np.maximum if sign == 1 else np.minimum)(best, new)
        elif form == "xla":
            keeps = sign * best >= sign * new
            at = min(at, here) if best == new else at if keeps else here
            best = best if keeps else new
        else:
            keeps = sign * best > sign * new or best != best
            at = at if keeps or (best == new and at < here) else here
            best = best if keeps else new
    return best, at


@pytest.mark.parametrize("form", COMBINES)
@pytest.mark.parametrize(("better", "axis", "with_value"), [("max", 1, True), ("min", 2, False), ("max", 0, False)])
def test_every_form_finds_what_its_loop_finds(form: str, better: str, axis: int, with_value: bool) -> None:
    random = np.random.default_rng(3)
    special = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 3, 3], np.float32)
    x = random.choice(special, (6, 7, 5))
    x[0], x[:, :, 0] = -np.inf, random.choice(special[:5], (6, 7))
    text = program(form, better, axis, with_value)
    terms = np.moveaxis(x * x if "mulf" in text else x + x, axis, -1)
    want = [expected(form, better, row) for row in terms.reshape(-1, terms.shape[-1])]
    for tiles in (1, 5):
        exe = ipu_mlir.compile(text, target=ipu_mlir.Target(tiles_per_ipu=tiles))
        is_exact = form != "jax" or not with_value  # of 0 and -0 that keeps the last one, and is no codelet
        assert ("first_m" in exe.mlir()) is is_exact
        for found in (exe.run([x]), exe.run_per_tile([x])):
            np.testing.assert_array_equal(found[-1].ravel(), [at for _, at in want])
            if with_value:
                np.testing.assert_array_equal(found[0].ravel(), np.array([best for best, _ in want], np.float32))


@pytest.mark.parametrize("special", [3, np.inf, np.nan])
def test_few_places_among_many_elements_are_found_by_parts(special: float) -> None:
    text = program("jax", "max", 1, False).replace("6x7x5", "1x9000x1").replace("6x5", "1x1")
    x = np.random.default_rng(4).integers(-2, 3, (1, 9000, 1)).astype(np.float32)
    x[0, [4321, 8765]] = special
    exe = ipu_mlir.compile(text, target=ipu_mlir.Target(tiles_per_ipu=64))
    assert "first_m" not in exe.mlir()
    for found in (exe.run([x]), exe.run_per_tile([x])):
        assert found[0].tolist() == [[4321]]
