"""The per-tile executor: every tile runs alone on its own memory. Slow and exact, the oracle of the fast executor."""
