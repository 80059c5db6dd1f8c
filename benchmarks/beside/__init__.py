"""Real programs beside JAX and PyTorch, in one process, in turn."""
