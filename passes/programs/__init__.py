"""Programs around computations: state."""
