"""Rules of mathematical functions: linear algebra, transforms, polynomials, special functions."""
