"""The work of commands and of Dagster's steps. Every function raises `VetlError`s: one line with the place and a remedy."""
