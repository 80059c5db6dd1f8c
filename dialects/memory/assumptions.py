"""Assumptions about memory that no public document states; all in one place, so that a measurement can replace them.

Not counted at all: the stacks of workers and supervisor, and the vendor's own runtime on a tile.
"""

ALLOCATION_BYTES = 8
"""Every buffer begins at a multiple of so many bytes on each of its tiles: vertices load and store 64 bits at once."""

INSTRUCTION_BYTES = 4
"""Source: instructions of 32 bits, as in the published assembly of codelets."""

EXCHANGE_INSTRUCTIONS = 6
"""Of an exchange, on a tile that sends or receives: sync, set the pointers, wait for its turn, return."""

SEND_INSTRUCTIONS = 1
"""For each contiguous piece that a tile sends."""

RECEIVE_INSTRUCTIONS = 2
"""For each contiguous piece that a tile receives: choose the sender, set the address."""

REARRANGE_INSTRUCTIONS = 24
"""Of an exchange whose pieces are so small that a tile gathers them into one message, and spreads what comes."""

CODE_WORTH = 4
"""So many bytes of a message, which are there for a while, are as good as one byte of code, which is there for ever.

Programs that do not fit gather more (``ipu-gather-messages``). A profile of a vision transformer has 2 between the
scores and the softmax, and 15 to 400 at products (README of osmarks/ipu-stack, "SDK ONNX profile analysis", 2026)."""

STEP_INSTRUCTIONS = 8
"""Of a step in the program of a tile, on every tile: call it, sync, and start the vertices or the exchange."""

CONTROL_FLOW_INSTRUCTIONS = 8
"""Of a loop, a branch or a call: test, count, jump."""
