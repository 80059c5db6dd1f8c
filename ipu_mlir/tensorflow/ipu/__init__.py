"""The names of the guide: what ``tensorflow.python.ipu`` has there.

Modules are imported when they are first asked for; those of ``ipu.ops`` and estimators are here as well.
"""

from ipu_mlir.tensorflow.guide.lazily import lazily
from ipu_mlir.tensorflow.ipu import ops

_MODULES = (
    "config",
    "data",
    "dataset_benchmark",
    "distributed",
    "gradient_accumulation",
    "ipu_compiler",
    "ipu_infeed_queue",
    "ipu_multi_worker_strategy",
    "ipu_outfeed_queue",
    "ipu_session_run_hooks",
    "ipu_strategy",
    "keras",
    "loops",
    "optimizers",
    "pipelining_ops",
    "scopes",
    "serving",
    "sharding",
    "utils",
)

_ESTIMATORS = ("ipu_estimator", "ipu_pipeline_estimator", "ipu_run_config")

__getattr__, __dir__ = lazily(
    __name__,
    {
        **{name: name for name in _MODULES},
        **{name: f"estimators.{name}" for name in _ESTIMATORS},
        **{name: f"ops.{name}" for name in dir(ops)},
    },
)
