"""What has to happen before tensors are placed."""
