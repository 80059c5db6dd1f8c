"""Programs in files, and how they run by themselves: batches go in, results come out."""
