"""The command line, a file for each command. Mistakes are `VetlError`s, which `app` turns into a line and an exit code."""
