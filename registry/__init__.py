"""The curated registry: one TOML file for each plugin; adding a plugin is adding a file."""
