"""Statements as MLIR functions over explicit vectors, which LLVM makes machine code of."""
