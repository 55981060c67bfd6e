"""What every room stands on: dispatch, compilation, arrays, values, checks, errors and the registry."""
