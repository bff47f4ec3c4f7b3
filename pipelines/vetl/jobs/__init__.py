"""The work of commands and of Dagster's steps. A mistake is a `VetlError`: one line with place and remedy."""
