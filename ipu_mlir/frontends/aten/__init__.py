"""The ops of PyTorch as functions of NumPy on traced tensors: a rule for each."""
