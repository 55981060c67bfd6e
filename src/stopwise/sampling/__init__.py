"""Which arm next: trackers."""
