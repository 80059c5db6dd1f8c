"""Files that are written whole or not at all, arrays that are mapped from files, and locks between processes."""
