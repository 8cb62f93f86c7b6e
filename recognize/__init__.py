"""A photo of a sheet comes in, what was written on it comes out, and how surely."""
