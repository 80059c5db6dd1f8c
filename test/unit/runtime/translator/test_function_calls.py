"""Functions that several marked calls share: source that stands once, and what the calls did when they were inlined."""

import numpy as np
import pytest
from memref_text import V, add, copy, f32, func

from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

X, Y = f32(6), f32(6)
CALL = "{ipu.outlined}"
TWICE = f"""
func.func private @twice(%a: {V}, %b: {V}) -> {V} {{
  %t = memref.alloc() : {V}
  {add("%a", "%b", "%t")}
  {add("%t", "%t", "%t")}
  return %t : {V}
}}
"""
TO_ONE = f"({V}, {V}) -> {V}"


def both(engine, text, *inputs):
    """The results of ``text`` with functions, after those without are the same; and the source."""
    kept = engine(text)
    results = kept.run(inputs)
    for other in (engine(text.replace(CALL, "")), engine(text, TranslatorOptions(kernels="always"))):
        for a, b in zip(results, other.run(inputs), strict=True):
            np.testing.assert_array_equal(a, b)
    return results, kept.source


def test_source_of_a_function_stands_once(engine):
    body = f"""
  %p = func.call @twice(%x, %y) {CALL} : {TO_ONE}
  %q = func.call @twice(%p, %p) {CALL} : {TO_ONE}
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %q) -> {V} {{
    %z = func.call @twice(%s, %y) {CALL} : {TO_ONE}
    scf.yield %z : {V}
  }}
  return %r : {V}
"""
    (found,), source = both(engine, TWICE + func(f"%x: {V}, %y: {V}) -> {V}", body), X, Y)
    expected = (X + Y) * 8
    for _ in range(5):
        expected = (expected + Y) * 2
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert source.count("    def ") == 2 and source.count("add(") == 2


def test_one_call_is_inlined(engine):
    body = f"%p = func.call @twice(%x, %y) {CALL} : {TO_ONE}\n return %p : {V}"
    _, source = both(engine, TWICE + func(f"%x: {V}, %y: {V}) -> {V}", body), X, Y)
    assert source.count("    def ") == 1


def test_an_argument_that_is_written_and_given_back_is_memory_of_the_caller(engine):
    text = f"""
func.func private @more(%a: {V}, %b: {V}) -> ({V}, {V}) {{
  {add("%a", "%b", "%a")}
  return %b, %a : {V}, {V}
}}
"""
    body = f"""
  %s = memref.alloc() : {V}
  {copy("%x", "%s")}
  %kept, %t = func.call @more(%s, %y) {CALL} : ({V}, {V}) -> ({V}, {V})
  %u:2 = func.call @more(%t, %kept) {CALL} : ({V}, {V}) -> ({V}, {V})
  {add("%s", "%u#1", "%u#1")}
  return %s, %t : {V}, {V}
"""
    results, source = both(engine, text + func(f"%x: {V}, %y: {V}) -> ({V}, {V})", body), X, Y)
    np.testing.assert_allclose(results, [2 * (X + 2 * Y)] * 2, rtol=1e-6)
    assert "def more(b, a):" in source.replace("_2", "").replace("arg0", "a").replace("arg1", "b")


def test_one_memory_under_two_names_of_which_one_is_written(engine):
    text = f"""
func.func private @after(%a: {V}, %b: {V}) -> {V} {{
  %t = memref.alloc() : {V}
  {add("%b", "%b", "%a")}
  {copy("%b", "%t")}
  return %t : {V}
}}
"""
    body = f"""
  %s = memref.alloc() : {V}
  {copy("%x", "%s")}
  %p = func.call @after(%s, %s) {CALL} : {TO_ONE}
  %q = func.call @after(%s, %p) {CALL} : {TO_ONE}
  return %p, %q : {V}, {V}
"""
    results, _ = both(engine, text + func(f"%x: {V}) -> ({V}, {V})", body), X)
    np.testing.assert_array_equal(results, [X + X, X + X])


@pytest.mark.parametrize("flag", [True, False])
def test_a_result_that_is_one_of_two_arguments(engine, flag):
    text = f"""
func.func private @one(%p: memref<i1>, %a: {V}, %b: {V}) -> {V} {{
  %c = memref.load %p[] : memref<i1>
  %r = arith.select %c, %a, %b : {V}
  return %r : {V}
}}
"""
    kind = f"(memref<i1>, {V}, {V}) -> {V}"
    body = f"""
  %s = memref.alloc() : {V}
  {copy("%x", "%s")}
  %r = func.call @one(%p, %s, %y) {CALL} : {kind}
  {add("%r", "%r", "%s")}
  %q = func.call @one(%p, %r, %r) {CALL} : {kind}
  return %q, %s : {V}, {V}
"""
    results, _ = both(
        engine, text + func(f"%x: {V}, %y: {V}, %p: memref<i1>) -> ({V}, {V})", body), X, Y, np.array(flag)
    )
    chosen = X if flag else Y
    np.testing.assert_array_equal(results[1], chosen + chosen)
    np.testing.assert_array_equal(results[0], chosen + chosen if flag else Y)


def test_numbers_and_views_go_in_and_out(engine):
    rows = "memref<2x3xf32, strided<[3, 1], offset: 3>>"
    text = """
func.func private @scaled(%a: memref<2x3xf32>, %n: index, %s: f32) -> (memref<6xf32>, f32, index) {
  %t = memref.alloc() : memref<2x3xf32>
  linalg.fill ins(%s : f32) outs(%t : memref<2x3xf32>)
  linalg.mul ins(%a, %t : memref<2x3xf32>, memref<2x3xf32>) outs(%t : memref<2x3xf32>)
  %flat = memref.collapse_shape %t [[0, 1]] : memref<2x3xf32> into memref<6xf32>
  %v = memref.load %flat[%n] : memref<6xf32>
  %m = arith.addi %n, %n : index
  return %flat, %v, %m : memref<6xf32>, f32, index
}
"""
    kind = "(memref<2x3xf32>, index, f32) -> (memref<6xf32>, f32, index)"
    body = f"""
  %view = memref.subview %x[1, 0] [2, 3] [1, 1] : memref<4x3xf32> to {rows}
  %t = memref.alloc() : memref<2x3xf32>
  memref.copy %view, %t : {rows} to memref<2x3xf32>
  %columns = memref.subview %x[0, 0] [3, 2] [1, 1] : memref<4x3xf32> to memref<3x2xf32, strided<[3, 1]>>
  %u = memref.alloc() : memref<3x2xf32>
  memref.copy %columns, %u : memref<3x2xf32, strided<[3, 1]>> to memref<3x2xf32>
  %f = memref.collapse_shape %u [[0, 1]] : memref<3x2xf32> into memref<6xf32>
  %w = memref.expand_shape %f [[0, 1]] output_shape [2, 3] : memref<6xf32> into memref<2x3xf32>
  %a:3 = func.call @scaled(%t, %c2, %one) {CALL} : {kind}
  %b:3 = func.call @scaled(%w, %a#2, %a#1) {CALL} : {kind}
  %o = memref.alloc() : memref<6xf32>
  linalg.fill ins(%b#1 : f32) outs(%o : memref<6xf32>)
  return %a#0, %b#0, %o : memref<6xf32>, memref<6xf32>, memref<6xf32>
"""
    x = f32(4, 3)
    signature = "%x: memref<4x3xf32>) -> (memref<6xf32>, memref<6xf32>, memref<6xf32>)"
    results, source = both(engine, text + func(signature, body), x)
    scaled = x[:3, :2].reshape(-1) * x[1, 2]
    np.testing.assert_array_equal(results, [x[1:3].reshape(-1), scaled, np.full(6, scaled[4])])
    assert "strided(x, 3, (2, 3), (3, 1))" in source.replace("arg0", "x"), "rows are no copy"


def test_functions_of_narrow_floats_take_numbers(engine):
    half = "memref<6xf16>"
    text = f"""
func.func private @inner(%a: {half}) -> {half} {{
  %t = memref.alloc() : {half}
  {add("%a", "%a", "%t", half)}
  return %t : {half}
}}
func.func private @outer(%a: {half}) -> ({half}, {half}) {{
  %t = func.call @inner(%a) {CALL} : ({half}) -> {half}
  %u = func.call @inner(%t) {CALL} : ({half}) -> {half}
  return %t, %u : {half}, {half}
}}
"""
    body = f"""
  %a:2 = func.call @outer(%x) {CALL} : ({half}) -> ({half}, {half})
  %b:2 = func.call @outer(%a#1) {CALL} : ({half}) -> ({half}, {half})
  return %a#0, %b#1 : {half}, {half}
"""
    x = X.astype(np.float16)
    results, source = both(engine, text + func(f"%x: {half}) -> ({half}, {half})", body), x)
    np.testing.assert_array_equal(results, [x * 2, x * 16])
    assert source.index("def inner") < source.index("def outer") < source.index("def main")


def test_a_function_that_stays_and_calls_itself_is_refused(engine):
    text = f"""
func.func private @again(%a: {V}) -> {V} {{
  %r = func.call @again(%a) {CALL} : ({V}) -> {V}
  return %r : {V}
}}
"""
    body = f"%r = func.call @again(%x) {CALL} : ({V}) -> {V}\n return %r : {V}"
    with pytest.raises(CompileError, match="@again calls itself"):
        engine(text + func(f"%x: {V}) -> {V}", body))
