"""Pipelines of stages that TensorFlow traces and differentiates, as ``ipu.pipeline``."""
