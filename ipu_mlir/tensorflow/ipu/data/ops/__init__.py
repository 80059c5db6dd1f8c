"""Datasets (guide 21.12.2): ``dataset_ops``."""

from ipu_mlir.tensorflow.guide.lazily import lazily

__getattr__, __dir__ = lazily(__name__, {"dataset_ops": "dataset_ops"})
