"""Loops over single elements of tensors, found and written as structured ops."""
