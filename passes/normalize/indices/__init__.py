"""How ``ipu-normalize-indices`` rewrites ops whose operands are indexed by more than loops and their sums."""
