"""The dashboard for practice managers. It only reads the published file."""
