"""Which IPU ops run on, where the writer of the program says so."""
