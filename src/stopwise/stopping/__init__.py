"""When to stop, and with which answer: stopping rules."""
