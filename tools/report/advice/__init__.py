"""Advice on what to change first: each rule looks for one kind of waste in a profile, and estimates its cost."""
