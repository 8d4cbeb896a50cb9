"""Captures in bulk, for `zdissect batch`: directories to tables in Parquet, in processes and in bounded memory.

    from zdissect.export.directory import Job, convert_directory

    report = convert_directory(Job("captures", "tables"), watch)

Pure code is apart from code that opens files: `tables` and `schema` define the tables, `arrow` and
`message_batches` turn rows into Arrow, `decoding` and `group_decoding` turn frames into tables (Spark runs the same
code), `first_look` and `split` share out a large capture. `filesystems`, `inputs`, `listed_inputs`, `time_ranges`,
`merging`, `parquet`, `target`, `remote_target`, `leftovers`, `work`, `workers` and `directory` touch the file system.
Needs pyarrow: `pip install 'zdissect[batch]'`.
"""
