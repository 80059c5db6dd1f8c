"""ipu-normalize: fewer, fused ops."""
