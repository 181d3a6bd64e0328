"""The lab in the browser: pages of NiceGUI over what ``crawler.lab`` finds out."""
