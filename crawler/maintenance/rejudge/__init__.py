"""What is kept and dropped with the parameters of today: all pages judged again."""
