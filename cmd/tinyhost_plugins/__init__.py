"""The plugins that are shipped with tinyhost, one package each."""
