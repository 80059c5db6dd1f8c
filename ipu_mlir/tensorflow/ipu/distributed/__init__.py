"""Collectives and strategies over processes (guide 21.10), for the one that there is."""

from ipu_mlir.tensorflow.guide.lazily import lazily

_COLLECTIVES = ("allgather", "allreduce", "broadcast")
_STRATEGIES = ("ipu_horovod_strategy", "popdist_strategy")

__getattr__, __dir__ = lazily(
    __name__, {**dict.fromkeys(_COLLECTIVES, "collectives"), **dict(zip(_STRATEGIES, _STRATEGIES, strict=True))}
)
