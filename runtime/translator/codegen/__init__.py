"""From array programs to NumPy source."""
