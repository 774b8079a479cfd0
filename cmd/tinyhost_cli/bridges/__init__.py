"""Translators between other agents' hooks and ours. Pure: JSON values in, JSON values out."""
