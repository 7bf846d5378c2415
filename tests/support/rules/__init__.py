"""The rules of the judge of transcripts, one module a wire format."""
