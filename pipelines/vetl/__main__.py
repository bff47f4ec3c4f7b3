"""Run `vetl` as `python -m vetl`."""

from vetl.cli.app import main

if __name__ == "__main__":
    main()
