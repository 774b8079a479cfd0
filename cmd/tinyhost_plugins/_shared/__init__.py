"""What two or more of the shipped plugins need, and nothing else."""
