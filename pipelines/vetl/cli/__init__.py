"""The command line, a file for each command. `app` makes a line and an exit code of a mistake, a `VetlError`."""
