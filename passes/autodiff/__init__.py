"""Reverse-mode differentiation of linalg on tensors, scf and program ops."""
