"""TensorFlow's ops that XLA does not have."""
