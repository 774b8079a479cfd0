"""The programs that are measured. They run as children, from compiled copies."""
