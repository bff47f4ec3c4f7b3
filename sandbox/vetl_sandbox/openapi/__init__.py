"""The interface as an OpenAPI 3.1 description, made from the declarations that the platform itself uses."""
