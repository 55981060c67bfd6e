"""What every room stands on: values with methods, compilation, arrays, checks, errors and the registry."""
