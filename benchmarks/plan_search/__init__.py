"""How far the planner is from the best plan that a search finds, by the cycles of whole profiles."""
