"""`python -m toolbridge`: the command line, for where the console script is not on the path."""

from toolbridge.cli import main

if __name__ == "__main__":
    main()
