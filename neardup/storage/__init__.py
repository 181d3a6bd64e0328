"""Where the kept texts live, and how the index is kept in step with them."""
