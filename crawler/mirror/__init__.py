"""Mirror a site as a folder of files that opens without a network."""
