"""The memory of each tile."""
