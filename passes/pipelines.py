"""Named pipelines: what each runs, in order, as pipeline elements in text; they may name each other."""

from ipu_mlir.passes.supersteps.copy_views import BUFFERIZE

IMPORT_STABLEHLO: tuple[str, ...] = (
    "ipu-check-calls",
    "ipu-pad-bounded-sizes",
    "ipu-check-stablehlo",
    "ipu-outline-branches",
    "ipu-simplify-stablehlo",
    "ipu-expand-random",
    "ipu-expand-batch-norms",
    "func.func(chlo-legalize-to-stablehlo)",
    "func.func(stablehlo-legalize-composite-to-call)",
    "func.func(stablehlo-legalize-deprecated-ops)",
    "ipu-check-calls",
    "inline",
    "symbol-dce",
    "canonicalize",
    "cse",
    "ipu-convert-program-calls",
    "ipu-simplify-stablehlo",
    "ipu-split-complex",
    "ipu-expand-linear-algebra",
    "ipu-expand-sorts",
    "ipu-expand-scatters",
    "ipu-convert-control-flow",
    "stablehlo-legalize-to-linalg",
    "stablehlo-convert-to-signless",
    "reconcile-unrealized-casts",
    "convert-elementwise-to-linalg",
    "canonicalize",
    "inline",
    "symbol-dce",
    "canonicalize",
    "cse",
    "ipu-read-scopes",
)
"""StableHLO, with or without chlo, -> linalg on tensors. Custom calls can be inlined, the ops that they stand for
cannot. Functions are made of branches before equal ops in them and around them become one."""

NORMALIZE: tuple[str, ...] = (
    "ipu-differentiate-stages",
    "ipu-autodiff",
    "ipu-split-stages",
    "ipu-schedule-pipelines",
    "ipu-spread-shards",
    "ipu-outline-functions",
    "ipu-anchor-shards",
    "ipu-check-calls",
    "inline{default-pipeline=}",
    "symbol-dce",
    "ipu-check-streams",
    "ipu-expand-fifos",
    "ipu-sink-variables",
    "ipu-offload-variables",
    "ipu-check-remote-buffers",
    "ipu-promote-variables",
    "ipu-fold-collectives",
    "ipu-mark-replicas",
    "ipu-merge-remote-buffers",
    "ipu-move-rows-in-functions",
    "ipu-wrap-scalars",
    "ipu-infer-sizes",
    "ipu-clamp-slices",
    "ipu-anchor-hints",
    "ipu-seal-library-calls",
    "ipu-normalize-indices",
    "ipu-decompose-linalg-ops",
    "ipu-guard-integers",
    "convert-elementwise-to-linalg",
    "canonicalize",
    "cse",
    "ipu-raise-splats",
    "ipu-fold-constants",
    "ipu-fold-transposes",
    "ipu-generalize-ops",
    "ipu-guard-integers",
    "ipu-update-on-shards",
    "ipu-partition-remote-buffers",
    "ipu-trim-windows",
    "linalg-fold-unit-extent-dims",
    "ipu-hoist-invariants",
    "ipu-fuse-elementwise-ops",
    "ipu-expand-powers",
    "linalg-fold-unit-extent-dims",
    "ipu-drop-repeated-checks",
    "ipu-sink-max",
    "ipu-mask-terms",
    "ipu-factor-sums",
    "ipu-widen-sums",
    "lower-affine",
    "canonicalize",
    "cse",
    "ipu-trim-calls",
)
"""Linalg as it came in -> few, fused ops. What is called is not canonicalized before it is looked at: that would take a
library call whose body passes on what it reads for nothing. Unit dimensions go first, because fusion is wider without
them, and once more after it, because fusion moves reshapes and brings some back; it also copies assertions to all
readers of a value. Exponents are constants in bodies
after it, and poolings change places with fused ops only. Sums are widened last: the roundings after them would be
between ops that fuse, and fused into what reads them on other tiles."""

PLACE: tuple[str, ...] = (
    "ipu-restore-library-calls",
    "ipu-raise-extremes",
    "ipu-raise-scans",
    "ipu-decompose-tensor-ops",
    "ipu-raise-splats",
    "ipu-branch-switches",
    "ipu-drop-idle-ops",
    "ipu-inline-scalar-ops",
    "canonicalize",
    "ipu-raise-loops",
    "ipu-raise-counted-loops",
    "ipu-raise-ranks",
    "ipu-raise-dynamic-slices",
    "ipu-raise-element-ops",
    "ipu-raise-loads",
    "canonicalize",
    "cse",
    "ipu-mark-replicas{all-branches=true}",
    "convert-elementwise-to-linalg",
    "ipu-assign-shards",
    "ipu-fill-empties",
    "ipu-split-fills",
    "ipu-materialize-views",
    "ipu-assign-shards",
    "ipu-use-io-tiles",
    "ipu-partition",
    "ipu-place-tensors",
    "ipu-hoist-casts",
    "ipu-reuse-operands",
)
"""Normalised linalg -> every tensor in its place. Passes that ignore or break encodings run before placement.
Branches that only choose between tensors become a selection, which is no linalg yet. Shards are assigned before views
become copies, since what moves to another IPU has memory of its own, and once more for these copies. What differs
between replicas is looked at again when branches on elements are gone. Places that follow from constants are such
constants before loops are raised: what is scattered to them is a slice."""

LOWER: tuple[str, ...] = (
    "ipu-materialize-casts",
    "ipu-write-in-place",
    "ipu-split-updates",
    "ipu-mark-assignments",
    "ipu-divide-branches",
    "ipu-use-codelet-operands",
    "ipu-copy-views",
    "ipu-fix-loop-types",
    "ipu-bufferize-streams",
    "ipu-bufferize-collectives",
    BUFFERIZE,
    "ipu-rejoin-branches",
    "inline{default-pipeline=}",
    "ipu-join-updates",
    "ipu-update-variables",
    "ipu-cut-copies",
    "ipu-form-supersteps",
    "ipu-check-assignments",
    "canonicalize",
    "cse",
    "ipu-merge-collectives",
    "ipu-merge-compute-sets",
    "ipu-check-supersteps",
    "ipu-check-memory",
)
"""Placed tensors -> supersteps on buffers."""

TO_HOST: tuple[str, ...] = (
    "ipu-drop-placement",
    "ipu-forward-copies",
    "ipu-merge-reductions",
    "ipu-batch-replicas",
)
"""Supersteps -> the same program for one memory: what only undoes placing and partitioning."""

PIPELINES: dict[str, tuple[str, ...]] = {
    "ipu-import-stablehlo": IMPORT_STABLEHLO,
    "ipu-normalize": NORMALIZE,
    "ipu-place": PLACE,
    "ipu-lower": LOWER,
    "ipu-to-host": TO_HOST,
    "ipu-compile": ("ipu-set-target", "ipu-normalize", "ipu-place", "ipu-lower"),
}
