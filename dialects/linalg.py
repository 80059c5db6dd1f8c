"""linalg's ops as the bindings know them, without upstream's definitions of the named ones in Python.

MLIR finds the classes of a dialect's ops by the name of its module, and looks here first: upstream's own module also
interprets a definition of each named op, which takes 90 ms, a seventh of a first compilation.
"""

from ipu_mlir.dialects.support.bindings import compiled, upstream

_OPS = upstream("_linalg_ops_gen")
_LINALG = compiled("_mlirDialectsLinalg")

CopyOp, FillOp, GenericOp, IndexOp, YieldOp = _OPS.CopyOp, _OPS.FillOp, _OPS.GenericOp, _OPS.IndexOp, _OPS.YieldOp
BatchMatmulOp, MatmulOp, TransposeOp = _OPS.BatchMatmulOp, _OPS.MatmulOp, _OPS.TransposeOp
fill_builtin_region, get_indexing_maps = _LINALG.fill_builtin_region, _LINALG.get_indexing_maps
