"""From statements to NumPy source."""
