"""Every pass of the project, by name."""

from ipu_mlir.passes.anchor_hints import AnchorHints
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.branch_switches import BranchSwitches
from ipu_mlir.passes.check_memory import CheckMemory
from ipu_mlir.passes.check_supersteps import CheckSupersteps
from ipu_mlir.passes.clamp_slices import ClampSlices
from ipu_mlir.passes.copy_views import CopyViews
from ipu_mlir.passes.decompose_linalg_ops import DecomposeLinalgOps
from ipu_mlir.passes.decompose_tensor_ops import DecomposeTensorOps
from ipu_mlir.passes.drop_idle_ops import DropIdleOps
from ipu_mlir.passes.fill_empties import FillEmpties
from ipu_mlir.passes.fix_loop_types import FixLoopTypes
from ipu_mlir.passes.fold_transposes import FoldTransposes
from ipu_mlir.passes.form_supersteps import FormSupersteps
from ipu_mlir.passes.fuse_elementwise_ops import FuseElementwiseOps
from ipu_mlir.passes.generalize_ops import GeneralizeOps
from ipu_mlir.passes.hoist_casts import HoistCasts
from ipu_mlir.passes.infer_sizes import InferSizes
from ipu_mlir.passes.inline_scalar_ops import InlineScalarOps
from ipu_mlir.passes.legalize_types import LegalizeTypes
from ipu_mlir.passes.mask_terms import MaskTerms
from ipu_mlir.passes.materialize_casts import MaterializeCasts
from ipu_mlir.passes.materialize_views import MaterializeViews
from ipu_mlir.passes.merge_compute_sets import MergeComputeSets
from ipu_mlir.passes.normalize_indices import NormalizeIndices
from ipu_mlir.passes.partition import Partition
from ipu_mlir.passes.place_tensors import PlaceTensors
from ipu_mlir.passes.raise_dynamic_slices import RaiseDynamicSlices
from ipu_mlir.passes.raise_element_ops import RaiseElementOps
from ipu_mlir.passes.raise_loops import RaiseLoops
from ipu_mlir.passes.raise_ranks import RaiseRanks
from ipu_mlir.passes.raise_scans import RaiseScans
from ipu_mlir.passes.raise_splats import RaiseSplats
from ipu_mlir.passes.reuse_operands import ReuseOperands
from ipu_mlir.passes.set_target import SetTarget
from ipu_mlir.passes.sink_max import SinkMax
from ipu_mlir.passes.specialize_shapes import SpecializeShapes
from ipu_mlir.passes.split_fills import SplitFills
from ipu_mlir.passes.trim_windows import TrimWindows
from ipu_mlir.passes.widen_sums import WidenSums
from ipu_mlir.passes.wrap_scalars import WrapScalars

PASSES: tuple[type[Pass], ...] = (
    AnchorHints,
    BranchSwitches,
    CheckMemory,
    CheckSupersteps,
    CopyViews,
    ClampSlices,
    DecomposeLinalgOps,
    DecomposeTensorOps,
    DropIdleOps,
    FillEmpties,
    FixLoopTypes,
    FoldTransposes,
    FormSupersteps,
    FuseElementwiseOps,
    GeneralizeOps,
    HoistCasts,
    InferSizes,
    InlineScalarOps,
    LegalizeTypes,
    MaskTerms,
    MaterializeCasts,
    MaterializeViews,
    MergeComputeSets,
    NormalizeIndices,
    Partition,
    PlaceTensors,
    RaiseDynamicSlices,
    RaiseElementOps,
    RaiseLoops,
    RaiseRanks,
    RaiseScans,
    RaiseSplats,
    ReuseOperands,
    SetTarget,
    SinkMax,
    SpecializeShapes,
    SplitFills,
    TrimWindows,
    WidenSums,
    WrapScalars,
)
