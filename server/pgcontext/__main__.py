"""`python -m pgcontext` is the command `pgcontext`."""

from pgcontext.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
