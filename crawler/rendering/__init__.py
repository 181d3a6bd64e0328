"""What does a page show once its scripts have run? A Chromium without network, and its bounds."""
