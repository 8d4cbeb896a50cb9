"""A directory that grows: `zdissect batch --follow` converts captures as they arrive, each exactly once.

After every commit the tables are those of one `zdissect batch` over all files so far. `arrivals` tells which files have
come, `family_changes` what that means for the captures that they belong to, `capture_step` decodes what is new of a
capture, from the `decoder_state` that the step before has left; `followed_tables` holds tables and `checkpoint`, and
commits; `follower` goes round. Needs pyarrow: `pip install 'zdissect[batch]'`.
"""
