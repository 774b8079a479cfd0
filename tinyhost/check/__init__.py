"""Conformance: start a plugin again and again, try things on it, and say what it does wrong.

`engine.run_checks` runs the table of `table.CHECKS` against a `target.Target`. Every check
gets a fresh process and speaks raw lines to it, so that it can send what no host would.
"""
