"""ONNX: rules of its ops, the reference evaluator on traced tensors, and models made ready for import."""
