"""From a source to an executable."""
