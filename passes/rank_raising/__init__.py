"""Counts of what comes before an element in a sort, recognised whatever is compared and however."""
