"""The built-in model: an engine from PyPI, weights by pinned hash, nothing else."""
