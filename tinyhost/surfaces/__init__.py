"""Ways into a running host from outside its process."""
