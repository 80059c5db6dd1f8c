"""The parts that ops are cut into, and the tiles that tensors are stored on."""
