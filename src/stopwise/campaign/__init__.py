"""Live campaigns: ask, tell, and an answer that can be audited."""
