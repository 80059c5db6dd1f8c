"""From MLIR to array programs."""
