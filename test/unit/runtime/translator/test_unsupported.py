"""What the runtime cannot run is listed, all of it, with places."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.translator.importing.read import Problem, read_program
from ipu_mlir.runtime.translator.translate import translate

ONE = "affine_map<(d0) -> (d0)>"
BAD = f"""func.func @main(%x: memref<4xf32>) -> memref<4xf32> {{
  %o = memref.alloc() : memref<4xf32>
  %d = memref.alloc() : memref<4xf32>
  memref.prefetch %x[%i], read, locality<3>, data : memref<4xf32>
  linalg.generic {{indexing_maps = [{ONE}, {ONE}], iterator_types = ["parallel"]}}
    ins(%x : memref<4xf32>) outs(%o : memref<4xf32>) {{
  ^bb0(%a: f32, %z: f32):
    %0 = math.clampf %a to [%a, %z] : f32
    linalg.yield %0 : f32
  }}
  return %o : memref<4xf32>
}}""".replace("  memref.prefetch", "  %i = arith.constant 0 : index\n  memref.prefetch")


def problems_of(module: ir.Module) -> list[Problem]:
    return read_program(module.operation, "main")[1]


def parse(text: str) -> ir.Module:
    with ipu.context(), ir.Location.unknown():
        return ir.Module.parse(text)


def test_all_are_reported_at_once_with_their_places():
    module = parse(BAD)
    problems = problems_of(module)
    assert [problem.op for problem in problems] == ["memref.prefetch", "linalg.generic"]
    assert problems[0].location == "-:5:3"
    assert "math.clampf" in problems[1].reason
    with pytest.raises(CompileError) as error:
        translate(module)
    assert "cannot run 2 ops" in str(error.value)
    assert "'memref.prefetch' at -:5:3" in str(error.value) and "math.clampf" in str(error.value)


def test_what_follows_from_an_unknown_op_is_not_reported_again():
    module = parse("""func.func @main(%x: memref<4xf4E2M1FN>) -> memref<4xf4E2M1FN> {
      %o = memref.alloc() : memref<4xf4E2M1FN>
      memref.copy %x, %o : memref<4xf4E2M1FN> to memref<4xf4E2M1FN>
      return %o : memref<4xf4E2M1FN>
    }""")
    reasons = [problem.reason for problem in problems_of(module)]
    assert reasons == ["elements of type f4E2M1FN are not supported"] * 2  # the argument and the allocation


def test_nothing_is_reported_for_what_runs():
    text = """func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
      %o = memref.alloc() : memref<4xf32>
      linalg.exp ins(%x : memref<4xf32>) outs(%o : memref<4xf32>)
      return %o : memref<4xf32>
    }"""
    assert problems_of(parse(text)) == []


def test_a_missing_function_is_named_with_those_that_there_are():
    module = parse("func.func @first() { return }\nfunc.func @second() { return }")
    with pytest.raises(CompileError, match="no function 'main'; it has: first, second"):
        translate(module)


def test_sizes_that_are_only_known_at_run_time():
    module = parse("func.func @main(%x: memref<?xf32>) { return }")
    (problem,) = problems_of(module)
    assert "dynamic sizes" in problem.reason


def test_a_constant_without_a_value():
    module = parse("""memref.global "private" @k : memref<2xf32> = uninitialized
    func.func @main() -> memref<2xf32> {
      %k = memref.get_global @k : memref<2xf32>
      return %k : memref<2xf32>
    }""")
    (problem,) = problems_of(module)
    assert "@k" in problem.reason


@pytest.mark.parametrize(
    ("maps", "reason"),
    [
        (("i + j", "i + j"), "an index of a result is not one loop"),
        (("i, j", "i"), "its results lie over different loops"),
    ],
)
def test_results_that_no_call_of_numpy_gives(maps, reason):
    shapes = {"i + j": "7xf32", "i": "4xf32", "i, j": "4x4xf32"}
    names = [f"memref<{shapes[each]}>" for each in maps]
    indexing = ", ".join(f"affine_map<(i, j) -> ({each})>" for each in ("i, j", *maps))
    module = parse(f"""func.func @main(%x: memref<4x4xf32>, %y: {names[0]}, %z: {names[1]}) {{
      linalg.generic {{indexing_maps = [{indexing}], iterator_types = ["reduction", "reduction"]}}
        ins(%x : memref<4x4xf32>) outs(%y, %z : {names[0]}, {names[1]}) {{
      ^bb0(%a: f32, %b: f32, %c: f32):
        %s = arith.addf %a, %b : f32
        %t = arith.addf %a, %c : f32
        linalg.yield %s, %t : f32, f32
      }}
      return
    }}""")
    (problem,) = problems_of(module)
    assert reason in problem.reason and "run ipu-normalize-indices" in problem.reason


def test_a_layout_without_strides():
    module = parse("""func.func @main(%x: memref<4xf32, affine_map<(d0) -> (d0 mod 3)>>) -> memref<4xf32> {
      %o = memref.alloc() : memref<4xf32>
      memref.copy %x, %o : memref<4xf32, affine_map<(d0) -> (d0 mod 3)>> to memref<4xf32>
      return %o : memref<4xf32>
    }""")
    with pytest.raises(CompileError, match="a layout without strides is not supported: memref<4xf32, affine_map<"):
        translate(module)
