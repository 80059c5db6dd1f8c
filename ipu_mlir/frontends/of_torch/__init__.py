"""PyTorch: calls, and the constants of graphs."""
