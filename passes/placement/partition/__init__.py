"""How ops are cut and where tensors are stored."""
