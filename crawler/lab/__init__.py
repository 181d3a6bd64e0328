"""The lab: what would other parameters do with the pages of a crawl?"""
