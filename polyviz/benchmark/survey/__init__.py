"""The schedulers themselves as the subject: what each finds for every kernel, how long it thinks, how that grows."""
