"""The command line, run as people and programs run it: as a process of its own."""
