"""Which arm next: strategies, one file each, and trackers."""
