"""Models: post a request's fields, stream what comes back. The right bank's only door to the network."""
