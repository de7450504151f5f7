"""Views: values become pictures, tables and text."""
