"""What captured and declared runs say for themselves when they end: facets that a certificate is made of."""
