"""Which URL next, and have we had it?"""
