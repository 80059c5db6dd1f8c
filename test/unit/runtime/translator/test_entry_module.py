"""What ``ipu-kernels`` prints is what runs: the module, op by op, gives the bits of the engine."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from memref_text import V, add, copy, f32, func
from numpy.lib.stride_tricks import as_strided

from ipu_mlir.compilation.kernels import Kernels
from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.native import machine_code, why_not
from ipu_mlir.runtime.engine.one_thread import ONE_THREAD
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

DTYPES = {"i1": np.bool_, "f32": np.float32, "i8": np.int8, "i32": np.int32, "i64": np.int64, "index": np.int64}
ARITHMETIC = {"arith.addi": np.add, "arith.index_cast": np.int64, "arith.extsi": np.int64, "arith.trunci": np.int32}


class Interpreter:
    """Runs the functions of a module that the pass leaves. Memory is arrays; numbers are those of NumPy."""

    def __init__(self, module: ir.Module) -> None:
        self.symbols: dict[str, Any] = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.operation for op in module.body.operations
        }
        self.memory: dict[str, np.ndarray] = {}
        self.kernels = machine_code(str(self.symbols["kernels"])) if "kernels" in self.symbols else {}

    def call(self, name: str, values: list[Any]) -> None:
        function = self.symbols[name]
        if "ipu.numpy" in function.attributes:
            line = ir.StringAttr(function.attributes["ipu.numpy"]).value
            names = {f"v{number}": value for number, value in enumerate(values)}
            exec(line.format(*names), {**vars(np), **vars(numeric), **names})
        elif "ipu.kernel" in function.attributes:
            self.kernels[name.partition("_")[0]].run(*values)
        else:
            block = function.regions[0].blocks[0]
            self.block(block, dict(zip(block.arguments, values, strict=True)))

    def block(self, block: ir.Block, known: dict[Any, Any]) -> list[Any]:
        """Run ``block``; what its terminator hands on."""
        for op in block.operations:
            found = self.op(op.operation, [known[value] for value in op.operands], known)
            if len(op.results):
                known[op.results[0]] = found
        return [known[value] for value in list(block.operations)[-1].operands]

    def op(self, op: ir.Operation, values: list[Any], known: dict[Any, Any]) -> Any:
        name, blocks = op.name, [region.blocks[0] for region in op.regions]
        if name == "arith.constant":
            return DTYPES[str(op.results[0].type)](op.attributes["value"].value)
        if name in ARITHMETIC:
            return ARITHMETIC[name](*values)
        if name in ("affine.apply", "affine.min"):
            found = [evaluated(each, values) for each in ir.AffineMapAttr(op.attributes["map"]).value.results]
            return min(found)
        if name.startswith("memref."):
            return self.memref(op, values)
        if name == "func.call":
            self.call(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, values)
        elif name == "scf.if":
            self.block(blocks[0 if values[0] else 1], known)
        elif name == "scf.while":
            while self.block(blocks[0], known)[0]:
                self.block(blocks[1], known)
        elif name in ("scf.for", "scf.forall"):
            for number in range(*(values or [bounds[0] for bounds in map(list, static_bounds(op))])):
                known[blocks[0].arguments[0]] = np.int64(number)
                self.block(blocks[0], known)
        else:
            assert name in ("func.return", "scf.yield", "scf.condition", "scf.forall.in_parallel"), name
        return None

    def memref(self, op: ir.Operation, values: list[Any]) -> Any:
        if op.name == "memref.load":
            return values[0][()]
        if op.name == "memref.store":
            values[1][()] = values[0]
            return None
        kind = ir.MemRefType(op.results[0].type)
        dtype = np.dtype(DTYPES[str(kind.element_type)])
        if op.name == "memref.get_global":
            held = self.symbols[ir.FlatSymbolRefAttr(op.attributes["name"]).value]
            if "initial_value" in held.attributes and "constant" in held.attributes:
                return np.array(ir.DenseElementsAttr(held.attributes["initial_value"])).astype(dtype)
            return self.memory.setdefault(str(held.attributes["sym_name"]), np.zeros(kind.shape, dtype))
        if op.name == "memref.alloca":
            return np.zeros(kind.shape, dtype)
        if op.name == "memref.view":
            count = int(np.prod(kind.shape))
            return np.frombuffer(values[0], dtype, count, values[1]).reshape(kind.shape)
        assert op.name == "memref.reinterpret_cast", op.name
        numbers, dynamic = iter(values[1:]), ir.ShapedType.get_dynamic_size()
        stride = ir.ShapedType.get_dynamic_stride_or_offset()
        (offset,), sizes, strides = (
            [next(numbers) if n in (dynamic, stride) else n for n in op.attributes[f"static_{part}"]]
            for part in ("offsets", "sizes", "strides")
        )
        return as_strided(values[0].reshape(-1)[offset:], sizes, [n * dtype.itemsize for n in strides])


def static_bounds(op: ir.Operation) -> list[Any]:
    return [op.attributes[f"static{part}"] for part in ("LowerBound", "UpperBound", "Step")]


def evaluated(expression: ir.AffineExpr, values: list[Any]) -> Any:
    names = {f"d{number}": value for number, value in enumerate(values)}
    return np.int64(eval(str(expression), {}, names))


BLOCKS = """
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @main(%x: memref<1000x512xf32>, %w: memref<512x64xf32>) -> (memref<1000x64xf32>, memref<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = memref.alloc() : memref<1000x512xf32>
  %t = memref.alloc() : memref<1000xf32>
  %h = memref.alloc() : memref<1000x64xf32>
  linalg.exp ins(%x : memref<1000x512xf32>) outs(%y : memref<1000x512xf32>)
  linalg.fill ins(%zero : f32) outs(%t : memref<1000xf32>)
  linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<1000x512xf32>) outs(%t : memref<1000xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
      ins(%y, %t : memref<1000x512xf32>, memref<1000xf32>) outs(%y : memref<1000x512xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.divf %p, %q : f32
    linalg.yield %s : f32
  }
  linalg.fill ins(%zero : f32) outs(%h : memref<1000x64xf32>)
  linalg.matmul ins(%y, %w : memref<1000x512xf32>, memref<512x64xf32>) outs(%h : memref<1000x64xf32>)
  return %h, %t : memref<1000x64xf32>, memref<1000xf32>
}
"""
TWICE = f"""
func.func private @twice(%a: {V}, %b: {V}) -> {V} {{
  %t = memref.alloc() : {V}
  {add("%a", "%b", "%t")}
  {add("%t", "%t", "%t")}
  return %t : {V}
}}
"""
CONTROL = TWICE + func(
    f"%x: {V}, %y: {V}, %n: memref<i32>) -> {V}",
    f"""
  %table = memref.get_global @table : memref<5x6xf32>
  %a = memref.alloc() : {V}
  %limit = arith.constant 100.0 : f32
  {copy("%x", "%a")}
  scf.for %i = %c0 to %c5 step %c1 {{
    %row = memref.load %table[%i, %c1] : memref<5x6xf32>
    memref.store %row, %a[%i] : {V}
    %q = func.call @twice(%a, %y) {{ipu.outlined}} : ({V}, {V}) -> {V}
    %r = func.call @twice(%q, %y) {{ipu.outlined}} : ({V}, {V}) -> {V}
    {copy("%r", "%a")}
  }}
  scf.while : () -> () {{
    %v = memref.load %a[%c1] : {V}
    %more = arith.cmpf ogt, %v, %limit : f32
    scf.condition(%more)
  }} do {{
    %v = memref.load %a[%c2] : {V}
    %is = arith.cmpf ogt, %v, %limit : f32
    scf.if %is {{
      linalg.map {{ arith.divf }} ins(%a, %y : {V}, {V}) outs(%a : {V})
    }} else {{
      linalg.map {{ arith.subf }} ins(%a, %y : {V}, {V}) outs(%a : {V})
    }}
    scf.yield
  }}
  return %a : {V}
""",
)
TABLE = 'memref.global "private" constant @table : memref<5x6xf32> = dense<1.5>\n'
PROGRAMS = {
    "blocks": (BLOCKS, [f32(1000, 512), f32(512, 64)]),
    "control": (TABLE + CONTROL, [f32(6), np.abs(f32(6)) + 2, np.int32(3)]),
}


@pytest.mark.parametrize(
    "kernels", ["never", pytest.param("always", marks=pytest.mark.skipif(bool(why_not()), reason=why_not()))]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_module_does_what_the_engine_does(name: str, kernels: str) -> None:
    text, inputs = PROGRAMS[name]
    with ipu.context():
        module = ir.Module.parse(text)
        engine = Engine(module, options=TranslatorOptions(kernels=kernels))
        expected = engine.run(inputs)
        Kernels(kernels=kernels).run(module.operation)
        assert module.operation.verify()
        found = [np.zeros_like(each) for each in expected]
        with ONE_THREAD if engine.translation.single_blas_thread else nullcontext():
            Interpreter(module).call("main", [*inputs, *found])
    assert ("scf.forall" in str(module)) == (name == "blocks")
    has_one = "ipu.blas_threads" in str(module)
    assert has_one == engine.translation.single_blas_thread
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)
