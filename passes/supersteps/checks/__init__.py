"""What must hold of supersteps."""
