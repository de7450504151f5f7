"""Code generation: a `Plan` becomes a loop program, and printers turn that into text."""
