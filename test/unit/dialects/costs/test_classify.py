"""Which work a structured op is."""

from dataclasses import replace

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.codelets.sort import SORT
from ipu_mlir.dialects.costs.classify import classify
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.work import (
    Contraction,
    Elementwise,
    Gather,
    Move,
    Preparation,
    Reduction,
    Window,
    Work,
)
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

X, Y = "memref<8x16xf32>", "memref<16xf32>"


def work_of(body: str, arguments: str) -> Work:
    """The work of the structured op in ``body``."""
    module = parse_module(f"func.func @f({arguments}) {{\n{body}\nreturn\n}}", ipu.context())
    (op,) = [each for each in list_ops(module.operation) if is_structured(each)]
    nest = loop_nest(op)
    assert nest is not None
    return classify(op, nest)


def generic(maps: str, kinds: str, inputs: str, outputs: str, body: str, extra: str = "") -> str:
    names = maps.split("; ")
    listed = ", ".join(f"affine_map<({'ijk'[: len(kinds)].replace('', ',').strip(',')}) -> ({each})>" for each in names)
    iterators = ", ".join(f'"{"parallel" if kind == "p" else "reduction"}"' for kind in kinds)
    ins = f"ins({inputs})" if inputs else ""
    return f"""linalg.generic {{indexing_maps = [{listed}], iterator_types = [{iterators}]{extra}}}
        {ins} outs({outputs}) {{\n{body}\n}}"""


def binary(name: str, dtype: str = "f32") -> ScalarOp:
    return ScalarOp(Shape.BINARY, name, dtype)


def test_matmul() -> None:
    body = "linalg.matmul ins(%x, %w : memref<4x3xf16>, memref<3x5xf16>) outs(%y : memref<4x5xf16>)"
    work = work_of(body, "%x: memref<4x3xf16>, %w: memref<3x5xf16>, %y: memref<4x5xf16>")
    assert work == Contraction("f16", groups=(), field=(0,), out_channels=(1,), in_channels=(2,), kernel=())


@pytest.mark.parametrize(
    ("rows", "channels", "columns", "weights"),
    [(64, 32, 8, "field"), (8, 32, 64, "out_channels"), (56, 32, 8, ""), (64, 16, 8, "")],
)
def test_a_much_larger_factor_stays_as_weights(rows: int, channels: int, columns: int, weights: str) -> None:
    x, w, y = (f"memref<{a}x{b}xf16>" for a, b in ((rows, channels), (channels, columns), (rows, columns)))
    work = work_of(f"linalg.matmul ins(%x, %w : {x}, {w}) outs(%y : {y})", f"%x: {x}, %w: {w}, %y: {y}")
    assert isinstance(work, Contraction)
    assert work.weights == weights


def test_matmul_of_a_batch_that_widens() -> None:
    body = "linalg.batch_matmul ins(%x, %w : memref<2x4x3xf16>, memref<2x3x5xf16>) outs(%y : memref<2x4x5xf32>)"
    work = work_of(body, "%x: memref<2x4x3xf16>, %w: memref<2x3x5xf16>, %y: memref<2x4x5xf32>")
    assert work == Contraction("f16", groups=(0,), field=(1,), out_channels=(2,), in_channels=(3,), kernel=())


def test_convolution() -> None:
    types = "memref<1x8x8x3xf32>", "memref<3x3x3x4xf32>", "memref<1x6x6x4xf32>"
    work = work_of(
        f"linalg.conv_2d_nhwc_hwcf ins(%x, %k : {types[0]}, {types[1]}) outs(%y : {types[2]})",
        f"%x: {types[0]}, %k: {types[1]}, %y: {types[2]}",
    )
    expected = Contraction("f32", groups=(), field=(0, 1, 2), out_channels=(3,), in_channels=(6,), kernel=(4, 5))
    assert work == replace(expected, slides=True)


def test_a_window_that_moves_by_two_does_not_slide() -> None:
    types = "memref<1x9x9x3xf32>", "memref<3x3x3x4xf32>", "memref<1x4x4x4xf32>"
    strides = "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"
    work = work_of(
        f"linalg.conv_2d_nhwc_hwcf {strides} ins(%x, %k : {types[0]}, {types[1]}) outs(%y : {types[2]})",
        f"%x: {types[0]}, %k: {types[1]}, %y: {types[2]}",
    )
    assert isinstance(work, Contraction)
    assert not work.slides


def test_depthwise_convolution() -> None:
    types = "memref<1x8x8x4xf16>", "memref<3x3x4xf16>", "memref<1x6x6x4xf16>"
    work = work_of(
        f"linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %k : {types[0]}, {types[1]}) outs(%y : {types[2]})",
        f"%x: {types[0]}, %k: {types[1]}, %y: {types[2]}",
    )
    expected = Contraction("f16", groups=(3,), field=(0, 1, 2), out_channels=(), in_channels=(), kernel=(4, 5))
    assert work == replace(expected, slides=True)


def test_product_of_a_factor_that_is_computed_first() -> None:
    body = """^bb0(%a: f32, %total: f32, %b: f32, %out: f32):
      %p = arith.divf %a, %total : f32
      %m = arith.mulf %p, %b : f32
      %r = arith.addf %out, %m : f32
      linalg.yield %r : f32"""
    ins = "%x, %s, %w : memref<8x16xf32>, memref<8xf32>, memref<16x4xf32>"
    text = generic("i, k; i; k, j; i, j", "ppr", ins, "%y : memref<8x4xf32>", body)
    work = work_of(text, "%x: memref<8x16xf32>, %s: memref<8xf32>, %w: memref<16x4xf32>, %y: memref<8x4xf32>")
    prepared = (Preparation((binary("div"),), (0, 2)),)
    assert work == Contraction("f32", (), (0,), (1,), (2,), (), prepared)


def test_product_that_widens_loads_the_narrow_type() -> None:
    body = """^bb0(%a: f16, %b: f16, %out: f32):
      %a32 = arith.extf %a : f16 to f32
      %b32 = arith.extf %b : f16 to f32
      %m = arith.mulf %a32, %b32 : f32
      %r = arith.addf %out, %m : f32
      linalg.yield %r : f32"""
    ins = "%x, %w : memref<8x16xf16>, memref<16x4xf16>"
    text = generic("i, k; k, j; i, j", "ppr", ins, "%y : memref<8x4xf32>", body)
    work = work_of(text, "%x: memref<8x16xf16>, %w: memref<16x4xf16>, %y: memref<8x4xf32>")
    assert work == Contraction("f16", (), (0,), (1,), (2,), ())


def test_dot_product_is_a_reduction_of_products() -> None:
    work = work_of(f"linalg.dot ins(%x, %x : {Y}, {Y}) outs(%y : memref<f32>)", f"%x: {Y}, %y: memref<f32>")
    assert work == Reduction("f32", "f32", (), (0,), True, (binary("mul"),), binary("add"), operands=2)


@pytest.mark.parametrize(
    ("maps", "inputs", "broadcast", "operands"),
    [
        ("i, j; i, j; i, j", f"%x, %x2 : {X}, {X}", "", 3),
        ("i, j; j; i, j", f"%x, %b : {X}, {Y}", "vector", 3),
        ("i, j; ; i, j", f"%x, %s : {X}, memref<f32>", "scalar", 3),
        ("i, j; ; i, j", f"%x, %c : {X}, f32", "scalar", 2),
    ],
)
def test_sum_of_two_operands(maps: str, inputs: str, broadcast: str, operands: int) -> None:
    body = "^bb0(%a: f32, %b0: f32, %out: f32):\n%r = arith.addf %a, %b0 : f32\nlinalg.yield %r : f32"
    arguments = f"%x: {X}, %x2: {X}, %b: {Y}, %s: memref<f32>, %c: f32, %y: {X}"
    work = work_of(generic(maps, "pp", inputs, f"%y : {X}", body), arguments)
    assert work == Elementwise((binary("add"),), broadcast, operands=operands)


def test_a_maximum_with_a_scalar() -> None:
    body = "^bb0(%a: f32, %out: f32):\n%r = arith.maximumf %a, %one : f32\nlinalg.yield %r : f32"
    text = "%one = arith.constant 1.0 : f32\n" + generic("i, j; i, j", "pp", f"%x : {X}", f"%y : {X}", body)
    assert work_of(text, f"%x: {X}, %y: {X}") == Elementwise((binary("max"),), "scalar", operands=2)


def test_sum_in_place() -> None:
    work = work_of(f"linalg.add ins(%x, %y : {X}, {X}) outs(%y : {X})", f"%x: {X}, %y: {X}")
    assert work == Elementwise((binary("add"),), "", in_place=True, operands=3)


def test_body_of_several_operations() -> None:
    body = """^bb0(%a: f16, %out: f32):
      %wide = arith.extf %a : f16 to f32
      %t = math.tanh %wide : f32
      %p = arith.cmpf ogt, %t, %half : f32
      %r = arith.select %p, %t, %half : f32
      linalg.yield %r : f32"""
    text = "%half = arith.constant 0.5 : f32\n"
    text += generic("i; i", "p", "%x : memref<16xf16>", "%y : memref<16xf32>", body)
    expected = (
        ScalarOp(Shape.CAST, "cast", "f16", "f32"),
        ScalarOp(Shape.UNARY, "tanh", "f32"),
        binary("compare"),
        ScalarOp(Shape.SELECT, "select", "f32"),
    )
    assert work_of(text, "%x: memref<16xf16>, %y: memref<16xf32>") == Elementwise(expected, operands=2)


@pytest.mark.parametrize(("dimension", "continuous"), [(1, True), (0, False)])
def test_reduction(dimension: int, continuous: bool) -> None:
    out = ("memref<16xf32>", "memref<8xf32>")[dimension]
    body = f"linalg.reduce {{arith.addf}} ins(%x : {X}) outs(%y : {out}) dimensions = [{dimension}]"
    work = work_of(body, f"%x: {X}, %y: {out}")
    assert work == Reduction("f32", "f32", (1 - dimension,), (dimension,), continuous, (), binary("add"))


def test_reduction_in_a_wider_type() -> None:
    body = """^bb0(%a: f16, %out: f16):
      %a32 = arith.extf %a : f16 to f32
      %out32 = arith.extf %out : f16 to f32
      %s = arith.addf %a32, %out32 : f32
      %r = arith.truncf %s : f32 to f16
      linalg.yield %r : f16"""
    text = generic("i, j; i", "pr", "%x : memref<8x16xf16>", "%y : memref<8xf16>", body)
    work = work_of(text, "%x: memref<8x16xf16>, %y: memref<8xf16>")
    widen = ScalarOp(Shape.CAST, "cast", "f16", "f32")
    assert work == Reduction("f16", "f16", (0,), (1,), True, (widen,), binary("add"))


def test_product_in_a_wider_type_than_its_result() -> None:
    body = """^bb0(%a: f16, %b: f16, %out: f16):
      %a32 = arith.extf %a : f16 to f32
      %b32 = arith.extf %b : f16 to f32
      %out32 = arith.extf %out : f16 to f32
      %m = math.fma %a32, %b32, %out32 : f32
      %r = arith.truncf %m : f32 to f16
      linalg.yield %r : f16"""
    ins = "%x, %w : memref<8x16xf16>, memref<16x4xf16>"
    text = generic("i, k; k, j; i, j", "ppr", ins, "%y : memref<8x4xf16>", body)
    work = work_of(text, "%x: memref<8x16xf16>, %w: memref<16x4xf16>, %y: memref<8x4xf16>")
    assert work == Contraction("f16", (), (0,), (1,), (2,), ())


def test_body_that_finds_the_place_of_the_largest_goes_element_by_element() -> None:
    body = """^bb0(%a: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %here = arith.index_cast %j : index to i32
      %larger = arith.cmpf ogt, %a, %best : f32
      %value = arith.select %larger, %a, %best : f32
      %place = arith.select %larger, %here, %at : i32
      linalg.yield %value, %place : f32, i32"""
    outs = "%y, %p : memref<8xf32>, memref<8xi32>"
    text = generic("i, j; i; i", "pr", f"%x : {X}", outs, body)
    work = work_of(text, f"%x: {X}, %y: memref<8xf32>, %p: memref<8xi32>")
    assert isinstance(work, Reduction)
    assert work.combine is None
    assert [op.name for op in work.before] == ["compare", "select", "select"]


def test_reduction_of_integers_has_no_fast_vertex() -> None:
    body = "linalg.reduce {arith.addi} ins(%x : memref<8xi32>) outs(%y : memref<i32>) dimensions = [0]"
    work = work_of(body, "%x: memref<8xi32>, %y: memref<i32>")
    assert isinstance(work, Reduction)
    assert work.combine is None and work.before == (ScalarOp(Shape.INTEGER, "plain", "i32"),)


@pytest.mark.parametrize("kind", ["max", "sum"])
def test_pooling(kind: str) -> None:
    types = "memref<1x8x8x4xf32>", "memref<2x2xf32>", "memref<1x7x7x4xf32>"
    work = work_of(
        f"linalg.pooling_nhwc_{kind} ins(%x, %k : {types[0]}, {types[1]}) outs(%y : {types[2]})",
        f"%x: {types[0]}, %k: {types[1]}, %y: {types[2]}",
    )
    assert work == Window("f32", kind, positions=(1, 2), channels=(0, 3), window=(4, 5))


def test_gather_of_rows() -> None:
    body = """^bb0(%row: index, %out: f32):
      %j = linalg.index 1 : index
      %r = memref.load %table[%row, %j] : memref<8x4xf32>
      linalg.yield %r : f32"""
    text = generic("i; i, j", "pp", "%at : memref<3xindex>", "%y : memref<3x4xf32>", body)
    work = work_of(text, "%table: memref<8x4xf32>, %at: memref<3xindex>, %y: memref<3x4xf32>")
    assert work == Gather("f32", (0, 1), ((1,),), ())


def test_library_codelets() -> None:
    copy = "^bb0(%a: f32, %out: f32):\nlinalg.yield %a : f32"
    sort = generic("i, j; i, j", "pr", f"%x : {X}", f"%y : {X}", copy, ', library_call = "sort"')
    rows = ("f32", "f32"), ((8, 16), (8, 16)), ((0, 1), (0, 1))
    assert work_of(sort, f"%x: {X}, %y: {X}") == CodeletCall(SORT, *rows, kept=(0,), reduced=(1,))
    for call in ("scan_max", "scan_max_from_end"):
        scan = generic("i, j; i, j", "rp", f"%x : {X}", f"%y : {X}", copy, f', library_call = "{call}"')
        assert work_of(scan, f"%x: {X}, %y: {X}") == CodeletCall(codelet_named(call), *rows, kept=(1,), reduced=(0,))
    body = "^bb0(%row: index, %guard: i1, %new: f32, %own: index, %out: f32):\nlinalg.yield %out : f32"
    ins = "%at, %on, %u, %p : memref<3xindex>, memref<3xi1>, memref<3xf32>, memref<8xindex>"
    extra = ', library_call = "scatter_add"'
    scatter = generic("j; j; j; i; i", "pr", ins, "%y : memref<8xf32>", body, extra)
    arguments = "%at: memref<3xindex>, %on: memref<3xi1>, %u: memref<3xf32>, %p: memref<8xindex>, %y: memref<8xf32>"
    assert work_of(scatter, arguments) == CodeletCall(
        codelet_named("scatter_add"),
        ("index", "i1", "f32", "index", "f32"),
        ((3,), (3,), (3,), (8,), (8,)),
        ((1,), (1,), (1,), (0,), (0,)),
        kept=(0,),
        reduced=(1,),
    )


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (f"linalg.fill ins(%c : f32) outs(%y : {X})", "fill"),
        (f"linalg.copy ins(%x : {X}) outs(%y : {X})", "copy"),
        (f"linalg.transpose ins(%t : memref<16x8xf32>) outs(%y : {X}) permutation = [1, 0]", "transpose"),
        (f"linalg.broadcast ins(%b : {Y}) outs(%y : {X}) dimensions = [0]", "copy"),
    ],
)
def test_moves(body: str, kind: str) -> None:
    arguments = f"%x: {X}, %t: memref<16x8xf32>, %b: {Y}, %c: f32, %y: {X}"
    assert work_of(body, arguments) == Move(kind, "f32", (0, 1))
