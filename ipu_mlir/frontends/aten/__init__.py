"""PyTorch's ops as functions of NumPy on traced tensors: a rule for each, from a graph to linalg without torch-mlir."""
