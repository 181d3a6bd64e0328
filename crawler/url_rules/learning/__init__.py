"""Which parts of a site's URLs do not matter: learned from what its pages turned out to say."""
