"""Every pass of the project, by name."""

from ipu_mlir.passes.autodiff.autodiff import Autodiff
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.drop_placement import DropPlacement
from ipu_mlir.passes.host.forward_copies import ForwardCopies
from ipu_mlir.passes.host.inline_gathered import InlineGathered
from ipu_mlir.passes.host.iterations.batch_iterations import BatchIterations
from ipu_mlir.passes.host.merge_reductions import MergeReductions
from ipu_mlir.passes.host.merge_scatters import MergeScatters
from ipu_mlir.passes.host.merge_sorts import MergeSorts
from ipu_mlir.passes.host.replicas.batch_replicas import BatchReplicas
from ipu_mlir.passes.host.skip_gaps import SkipGaps
from ipu_mlir.passes.importing.anchor_hints import AnchorHints
from ipu_mlir.passes.importing.bounded.pad_bounded_sizes import PadBoundedSizes
from ipu_mlir.passes.importing.clamp_slices import ClampSlices
from ipu_mlir.passes.importing.infer_sizes import InferSizes
from ipu_mlir.passes.importing.legalize_types import LegalizeTypes
from ipu_mlir.passes.importing.set_target import SetTarget
from ipu_mlir.passes.importing.specialize_shapes import SpecializeShapes
from ipu_mlir.passes.importing.stablehlo.check_stablehlo import CheckStablehlo
from ipu_mlir.passes.importing.stablehlo.convert_callbacks import ConvertCallbacks
from ipu_mlir.passes.importing.stablehlo.convert_collectives import ConvertCollectives
from ipu_mlir.passes.importing.stablehlo.convert_control_flow import ConvertControlFlow
from ipu_mlir.passes.importing.stablehlo.convert_program_calls import ConvertProgramCalls
from ipu_mlir.passes.importing.stablehlo.expand_batch_norms import ExpandBatchNorms
from ipu_mlir.passes.importing.stablehlo.expand_linear_algebra import ExpandLinearAlgebra
from ipu_mlir.passes.importing.stablehlo.expand_random import ExpandRandom
from ipu_mlir.passes.importing.stablehlo.outline_branches import OutlineBranches
from ipu_mlir.passes.importing.stablehlo.read_scopes import ReadScopes
from ipu_mlir.passes.importing.stablehlo.scatters.expand_scatters import ExpandScatters
from ipu_mlir.passes.importing.stablehlo.simplify_stablehlo import SimplifyStablehlo
from ipu_mlir.passes.importing.stablehlo.sorts.expand_sorts import ExpandSorts
from ipu_mlir.passes.importing.stablehlo.sorts.expand_top_k import ExpandTopK
from ipu_mlir.passes.importing.stablehlo.split_complex import SplitComplex
from ipu_mlir.passes.importing.widen_integers import WidenIntegers
from ipu_mlir.passes.importing.wrap_scalars import WrapScalars
from ipu_mlir.passes.normalize.decompose_linalg_ops import DecomposeLinalgOps
from ipu_mlir.passes.normalize.drop_repeated_checks import DropRepeatedChecks
from ipu_mlir.passes.normalize.expand_powers import ExpandPowers
from ipu_mlir.passes.normalize.factor_sums import FactorSums
from ipu_mlir.passes.normalize.fold_gaps import FoldGaps
from ipu_mlir.passes.normalize.fold_transposes import FoldTransposes
from ipu_mlir.passes.normalize.folding.fold_constants import FoldConstants
from ipu_mlir.passes.normalize.fuse_elementwise_ops import FuseElementwiseOps
from ipu_mlir.passes.normalize.generalize_ops import GeneralizeOps
from ipu_mlir.passes.normalize.guard_integers import GuardIntegers
from ipu_mlir.passes.normalize.hoist_invariants import HoistInvariants
from ipu_mlir.passes.normalize.indices.normalize_indices import NormalizeIndices
from ipu_mlir.passes.normalize.mask_terms import MaskTerms
from ipu_mlir.passes.normalize.merge_loops import MergeLoops
from ipu_mlir.passes.normalize.raise_splats import RaiseSplats
from ipu_mlir.passes.normalize.seal_library_calls import SealLibraryCalls
from ipu_mlir.passes.normalize.sink_max import SinkMax
from ipu_mlir.passes.normalize.trim_windows import TrimWindows
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.pipelining.differentiate_stages import DifferentiateStages
from ipu_mlir.passes.pipelining.schedule_pipelines import SchedulePipelines
from ipu_mlir.passes.pipelining.split_stages import SplitStages
from ipu_mlir.passes.placement.delay_enqueues import DelayEnqueues
from ipu_mlir.passes.placement.hoist_casts import HoistCasts
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.placement.place_tensors import PlaceTensors
from ipu_mlir.passes.placement.preparation.branch_switches import BranchSwitches
from ipu_mlir.passes.placement.preparation.decompose_tensor_ops import DecomposeTensorOps
from ipu_mlir.passes.placement.preparation.drop_idle_ops import DropIdleOps
from ipu_mlir.passes.placement.preparation.fill_empties import FillEmpties
from ipu_mlir.passes.placement.preparation.inline_scalar_ops import InlineScalarOps
from ipu_mlir.passes.placement.preparation.materialize_views import MaterializeViews
from ipu_mlir.passes.placement.preparation.restore_library_calls import RestoreLibraryCalls
from ipu_mlir.passes.placement.preparation.split_fills import SplitFills
from ipu_mlir.passes.placement.reuse_operands import ReuseOperands
from ipu_mlir.passes.placement.shards.anchor_shards import AnchorShards
from ipu_mlir.passes.placement.shards.assign_shards import AssignShards
from ipu_mlir.passes.placement.shards.spread_shards import SpreadShards
from ipu_mlir.passes.placement.use_io_tiles import UseIoTiles
from ipu_mlir.passes.programs.assignments.mark_assignments import MarkAssignments
from ipu_mlir.passes.programs.assignments.update_variables import UpdateVariables
from ipu_mlir.passes.programs.assignments.write_in_place import WriteInPlace
from ipu_mlir.passes.programs.bufferize_collectives import BufferizeCollectives
from ipu_mlir.passes.programs.bufferize_streams import BufferizeStreams
from ipu_mlir.passes.programs.check_calls import CheckCalls
from ipu_mlir.passes.programs.check_remote_buffers import CheckRemoteBuffers
from ipu_mlir.passes.programs.check_streams import CheckStreams
from ipu_mlir.passes.programs.expand_fifos import ExpandFifos
from ipu_mlir.passes.programs.fold_collectives import FoldCollectives
from ipu_mlir.passes.programs.mark_replicas import MarkReplicas
from ipu_mlir.passes.programs.merge_collectives import MergeCollectives
from ipu_mlir.passes.programs.merge_remote_buffers import MergeRemoteBuffers
from ipu_mlir.passes.programs.move_rows_in_functions import MoveRowsInFunctions
from ipu_mlir.passes.programs.offload_variables import OffloadVariables
from ipu_mlir.passes.programs.outline_functions import OutlineFunctions
from ipu_mlir.passes.programs.partition_remote_buffers import PartitionRemoteBuffers
from ipu_mlir.passes.programs.promote_variables import PromoteVariables
from ipu_mlir.passes.programs.set_float_modes import SetFloatModes
from ipu_mlir.passes.programs.sink_variables import SinkVariables
from ipu_mlir.passes.programs.trim_calls import TrimCalls
from ipu_mlir.passes.programs.update_on_shards import UpdateOnShards
from ipu_mlir.passes.raising.elements.raise_choices import RaiseChoices
from ipu_mlir.passes.raising.elements.raise_dynamic_slices import RaiseDynamicSlices
from ipu_mlir.passes.raising.elements.raise_element_ops import RaiseElementOps
from ipu_mlir.passes.raising.elements.raise_extremes import RaiseExtremes
from ipu_mlir.passes.raising.elements.raise_loads import RaiseLoads
from ipu_mlir.passes.raising.elements.split_scatters import SplitScatters
from ipu_mlir.passes.raising.elements.spread_gathers import SpreadGathers
from ipu_mlir.passes.raising.loops.forward_rows import ForwardRows
from ipu_mlir.passes.raising.loops.raise_counted_loops import RaiseCountedLoops
from ipu_mlir.passes.raising.loops.raise_loops import RaiseLoops
from ipu_mlir.passes.raising.loops.raise_recurrences import RaiseRecurrences
from ipu_mlir.passes.raising.matrices.block_factors import BlockFactors
from ipu_mlir.passes.raising.ranks.raise_ranks import RaiseRanks
from ipu_mlir.passes.raising.ranks.split_top_k import SplitTopK
from ipu_mlir.passes.raising.ranks.spread_sorts import SpreadSorts
from ipu_mlir.passes.raising.scans.raise_scans import RaiseScans
from ipu_mlir.passes.supersteps.checks.check_assignments import CheckAssignments
from ipu_mlir.passes.supersteps.checks.check_memory import CheckMemory
from ipu_mlir.passes.supersteps.checks.check_supersteps import CheckSupersteps
from ipu_mlir.passes.supersteps.copy_views import CopyViews
from ipu_mlir.passes.supersteps.cut_copies import CutCopies
from ipu_mlir.passes.supersteps.divide_branches import DivideBranches
from ipu_mlir.passes.supersteps.fix_loop_types import FixLoopTypes
from ipu_mlir.passes.supersteps.form_supersteps import FormSupersteps
from ipu_mlir.passes.supersteps.gather_messages import GatherMessages
from ipu_mlir.passes.supersteps.join_updates import JoinUpdates
from ipu_mlir.passes.supersteps.materialize_casts import MaterializeCasts
from ipu_mlir.passes.supersteps.merge_compute_sets import MergeComputeSets
from ipu_mlir.passes.supersteps.order_supersteps import OrderSupersteps
from ipu_mlir.passes.supersteps.rejoin_branches import RejoinBranches
from ipu_mlir.passes.supersteps.split_updates import SplitUpdates
from ipu_mlir.passes.supersteps.use_codelet_operands import UseCodeletOperands

PASSES: tuple[type[Pass], ...] = (
    AnchorHints,
    BatchIterations,
    BatchReplicas,
    AnchorShards,
    AssignShards,
    Autodiff,
    DifferentiateStages,
    SchedulePipelines,
    SplitStages,
    BranchSwitches,
    BufferizeCollectives,
    BufferizeStreams,
    CheckCalls,
    CheckAssignments,
    CheckMemory,
    GatherMessages,
    CheckRemoteBuffers,
    CheckStablehlo,
    ConvertCallbacks,
    CheckStreams,
    CheckSupersteps,
    ConvertCollectives,
    ConvertControlFlow,
    ConvertProgramCalls,
    CopyViews,
    ClampSlices,
    CutCopies,
    DecomposeLinalgOps,
    DecomposeTensorOps,
    DivideBranches,
    DropIdleOps,
    DropPlacement,
    DropRepeatedChecks,
    ExpandFifos,
    ExpandBatchNorms,
    ExpandLinearAlgebra,
    ExpandRandom,
    ExpandScatters,
    ExpandSorts,
    ExpandTopK,
    FillEmpties,
    FixLoopTypes,
    FoldCollectives,
    FactorSums,
    FoldConstants,
    FoldGaps,
    FoldTransposes,
    FormSupersteps,
    ForwardCopies,
    ForwardRows,
    FuseElementwiseOps,
    GeneralizeOps,
    GuardIntegers,
    DelayEnqueues,
    HoistCasts,
    HoistInvariants,
    InferSizes,
    InlineScalarOps,
    JoinUpdates,
    LegalizeTypes,
    MarkAssignments,
    MarkReplicas,
    ExpandPowers,
    MaskTerms,
    MaterializeCasts,
    MaterializeViews,
    MergeCollectives,
    MergeRemoteBuffers,
    MergeLoops,
    MoveRowsInFunctions,
    MergeComputeSets,
    OrderSupersteps,
    MergeReductions,
    MergeScatters,
    MergeSorts,
    SkipGaps,
    InlineGathered,
    NormalizeIndices,
    OffloadVariables,
    OutlineBranches,
    OutlineFunctions,
    PadBoundedSizes,
    Partition,
    PartitionRemoteBuffers,
    PlaceTensors,
    PromoteVariables,
    RaiseChoices,
    RaiseCountedLoops,
    RaiseDynamicSlices,
    RaiseElementOps,
    RaiseExtremes,
    RaiseLoads,
    RaiseLoops,
    RaiseRecurrences,
    RaiseRanks,
    SplitScatters,
    SpreadGathers,
    SplitTopK,
    BlockFactors,
    SpreadSorts,
    RaiseScans,
    RaiseSplats,
    ReadScopes,
    RejoinBranches,
    RestoreLibraryCalls,
    ReuseOperands,
    SealLibraryCalls,
    SetFloatModes,
    SetTarget,
    SimplifyStablehlo,
    SinkMax,
    SinkVariables,
    SpecializeShapes,
    SplitComplex,
    SplitFills,
    SplitUpdates,
    SpreadShards,
    TrimWindows,
    TrimCalls,
    UpdateOnShards,
    UpdateVariables,
    UseCodeletOperands,
    UseIoTiles,
    WidenIntegers,
    WidenSums,
    WrapScalars,
    WriteInPlace,
)
