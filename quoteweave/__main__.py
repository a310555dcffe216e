"""`python -m quoteweave` is the command line."""

from quoteweave.cli.app import main

if __name__ == "__main__":
    main()
