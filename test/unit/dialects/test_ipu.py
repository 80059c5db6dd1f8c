from concurrent.futures import ThreadPoolExecutor

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.attributes.dialect import Ipu
from ipu_mlir.dialects.support.bindings import ir, passmanager


def test_threads_make_contexts_at_once():
    with ThreadPoolExecutor(4) as threads:
        contexts = list(threads.map(lambda _: ipu.context(), range(16)))
    assert all(each.is_dialect_loaded("ipu") for each in contexts)


def test_what_few_programs_have_is_loaded_when_it_is_read_or_made():
    context = ipu.context()
    assert not any(map(context.is_dialect_loaded, ("gpu", "llvm", "spirv", "transform")))
    with context:
        read = ir.Module.parse("gpu.module @kernels {}")
        passmanager.PassManager.parse("builtin.module(convert-func-to-llvm)").run(read.operation)
    assert context.is_dialect_loaded("gpu") and context.is_dialect_loaded("llvm")
    assert not context.is_dialect_loaded("transform")


def test_declarations_that_are_kept_are_those_that_would_be_made():
    with ir.Context() as context, ir.Location.unknown():
        made = ir.Module.create()
        with ir.InsertionPoint(made.body):
            Ipu._emit_dialect()
        assert [str(Ipu._emit_module()), str(Ipu._emit_module())] == 2 * [str(made)]
    assert not context.is_dialect_loaded("ipu")
