"""History: a conversation of no provider in particular, made legal for any of them. Knows no wire format."""
