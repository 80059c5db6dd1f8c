"""From MLIR to statements on whole arrays."""
