"""What tabs are made of."""
