"""Bufferization, which makes buffers of tensors, as this compiler runs it."""

BUFFERIZE = (
    "one-shot-bufferize{use-encoding-for-memory-space bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map unknown-type-conversion=identity-layout-map "
    "allow-return-allocs-from-loops buffer-alignment=0}"
)
"""The pass that decides about copies, with the options of this compiler."""
