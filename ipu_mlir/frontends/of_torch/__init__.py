"""PyTorch through torch-mlir: calls, constants, decompositions, and the way to linalg."""
