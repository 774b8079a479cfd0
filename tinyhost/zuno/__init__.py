"""Packages of the form zuno.extension/v1: their manifest, where they are, how they start."""
