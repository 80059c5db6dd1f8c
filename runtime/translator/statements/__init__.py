"""Programs on whole arrays: accesses, expressions, statements."""
