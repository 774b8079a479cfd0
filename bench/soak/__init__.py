"""A long run with faults of all kinds: nothing is lost, nothing is left behind.

Each part is a function with its size as a parameter. The tests run them small.
"""
