"""Plugins that run in the host's own process, behind the same interface as all others."""
