"""Programs as they come in: target, sizes, types, placement hints."""
