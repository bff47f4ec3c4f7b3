"""Run `vetl` as `python -m pipelines`."""

from pipelines.cli.app import main

if __name__ == "__main__":
    main()
