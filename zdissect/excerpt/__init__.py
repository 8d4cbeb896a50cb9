"""The frames of a capture that some of its messages need, so that these are understood without the others."""
