"""Features that the core does not know: a folder each, found by `vetl.hooks`."""
