"""Results of the past from a file: read, recognised, put in order, and recorded all or not at all."""
