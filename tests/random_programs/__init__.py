"""Random affine programs, and what the product makes of them."""
