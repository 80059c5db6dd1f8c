"""ipu-lower: placed tensors become supersteps on buffers."""
