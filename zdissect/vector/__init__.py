"""Blocks of frames, read at once on arrays: the same programs, rules and rows as frame by frame.

What isn't plain is declined, batch by batch or connection by connection, and goes the scalar way, in order.
"""
