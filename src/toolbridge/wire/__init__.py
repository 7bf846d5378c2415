"""Wire formats: what replies and transcripts look like, one package each. Pure functions; no format knows another."""
