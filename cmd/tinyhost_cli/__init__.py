"""The tinyhost command."""
