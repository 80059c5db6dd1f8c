"""Datasets (guide 21.12.2)."""

from ipu_mlir.tensorflow.ipu.data import ops as ops
