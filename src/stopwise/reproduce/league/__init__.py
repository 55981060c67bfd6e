"""Who needs the fewest samples where: every strategy on every instance, as one page."""
