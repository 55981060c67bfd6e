"""Which of several programs or functions is faster: runs in blocks, until that is clear."""
