"""Parts that tabs are made of."""
