"""Translators between a plugin's wire and the host's vocabulary, one file per wire."""
