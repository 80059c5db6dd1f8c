"""Pipelines of stages, and layers cut into stages, so that each fits its IPU and the slowest is as fast as can be."""
