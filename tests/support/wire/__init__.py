"""The wire formats of the providers, written by hand from their documents and independent of the code under test: what
a server of each would send for a scenario, whole and streamed, and the broken dialects that are met in the field."""
