"""The IPU that ops run on, where the writer of the program says so."""
