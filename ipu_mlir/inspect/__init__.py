"""What a compiled program looks like."""
