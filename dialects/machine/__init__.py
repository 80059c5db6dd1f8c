"""What a machine is: tiles, memory, clock, links."""
