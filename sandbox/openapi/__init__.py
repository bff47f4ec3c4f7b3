"""The interface as an OpenAPI 3.1 description, drawn from what the platform itself goes by."""
