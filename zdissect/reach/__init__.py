"""How samples travel from node to node: which PUSHes are one sample, who was told of a subscriber, who should have got
it, and, where somebody didn't, what is missing first.
"""
