"""What the command line offers: one module per command."""
