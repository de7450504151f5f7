"""``polyviz bench --suite gpu``: kernels of blocks and threads, timed on a device, or counted without one."""
