"""``ipu-kernels``: a program for the host becomes all that runs, kernels and the calls of them."""

from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes import PASSES
from ipu_mlir.passes.core.base import Pass, Refusals


@dataclass(frozen=True)
class Kernels(Pass):
    """Write out what runs: kernels for LLVM, and the functions that call them, and NumPy, on views of planned memory.

    The kernels are those that ``ipu_mlir.compile`` has for the program. A function takes its arguments and then what it
    fills. What it calls is declared: a kernel (``ipu.kernel``), with the use that it makes of each array, or a line of
    NumPy (``ipu.numpy``), which writes the array that is last in it. ``ipu.ops`` are the ops whose work a call does;
    ``ipu.blas_threads`` are there if BLAS has one thread. A program is run from the level before, not from this one.

    - ``entry``: the function that runs.
    - ``kernels``: what is machine code: ``auto``, ``never`` or ``always``; empty for what ``IPU_KERNELS`` says.

    Needs:  a program on buffers without mappings (``ipu-to-host``).
    Leaves: functions of ``scf``, ``memref`` and calls; kernels in a module inside, in ``arith``, ``math``, ``scf``,
            ``vector`` and ``llvm``.
    """

    name = "ipu-kernels"
    entry: str = "main"
    kernels: str = ""

    def run(self, module: ir.Operation) -> None:
        from ipu_mlir.runtime.engine.native import possible
        from ipu_mlir.runtime.translator.entry_module import entry_module
        from ipu_mlir.runtime.translator.statements.options import KERNELS, TranslatorOptions

        with module.context, ir.Location.unknown(), Refusals() as refuse:
            if self.kernels and self.kernels not in KERNELS:
                refuse(module, f"cannot have kernels={self.kernels}; the choices are {', '.join(KERNELS)}")
                return
            try:
                made = entry_module(module, self.entry, possible(TranslatorOptions.of(self.kernels or None)))
            except CompileError as error:
                refuse(module, str(error))
                return
            block = module.regions[0].blocks[0]
            for op in [each.operation for each in block.operations]:
                if op.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value in made.functions:
                    op.erase()
            for op in ir.Module.parse(made.text).body.operations:
                name = ir.StringAttr(op.attributes["sym_name"]).value
                if name in made.constants:
                    value = made.constants[name]
                    kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value).element_type
                    op.attributes["initial_value"] = ir.DenseElementsAttr.get(value, type=kind, shape=value.shape)
                block.append(op.detach_from_parent())


ALL_PASSES = PASSES.with_others([Kernels])
"""What ``ipu-opt`` runs: the passes of the compiler, and the one that asks the runtime what it makes of a program."""
