"""One module for each list of the contract: its fields, and the code that renders rows of the world as records."""
