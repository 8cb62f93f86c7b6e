"""What people touch: the command line, the demo, and the picture of what was read."""
