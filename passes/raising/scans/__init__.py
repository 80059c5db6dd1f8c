"""Cumulative sums, products and extremes become scans."""
