"""Operators of the guide (21.15): a file per module there."""

from ipu_mlir.tensorflow.guide.lazily import lazily

_MODULES = (
    "all_to_all_op",
    "application_compile_op",
    "control_flow_ops",
    "cross_replica_ops",
    "custom_ops",
    "embedded_runtime",
    "embedding_ops",
    "functional_ops",
    "image_ops",
    "internal_ops",
    "math_ops",
    "nn_ops",
    "normalization_ops",
    "rand_ops",
    "reduce_scatter_op",
    "replication_ops",
    "slicing_ops",
    "statistics_ops",
    "within_replica_ops",
)

__getattr__, __dir__ = lazily(__name__, dict(zip(_MODULES, _MODULES, strict=True)))
