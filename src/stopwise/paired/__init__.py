"""Several options on the same items: what is tested is the difference of two on each item."""
