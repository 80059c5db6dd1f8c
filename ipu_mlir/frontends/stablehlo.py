"""StableHLO, which several front ends give, as linalg on tensors."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.importing.stablehlo.refine_shapes import is_stablehlo


def import_stablehlo(module: ir.Operation) -> None:
    """Bring ``module`` to linalg on tensors in place, if it is StableHLO.

    Raises:
        DiagnosedError: it cannot be imported, with all the ops that are in the way.
    """
    if is_stablehlo(module):
        from ipu_mlir.passes import PASSES  # which takes longer than to look at a module that is none
        from ipu_mlir.passes.core.manager import run_steps
        from ipu_mlir.passes.core.pipeline_steps import Registry
        from ipu_mlir.passes.pipelines import PIPELINES

        run_steps(module, Registry(PASSES, PIPELINES).resolve("ipu-import-stablehlo"), verify=())
