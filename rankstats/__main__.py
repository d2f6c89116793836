"""Run the command line as ``python -m rankstats``."""

from rankstats.cli.main import run

if __name__ == "__main__":
    run()
