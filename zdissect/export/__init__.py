"""Captures in bulk: directories to tables in Parquet, in processes and in bounded memory.

    from zdissect.export.directory import Job, convert_directory

    report = convert_directory(Job("captures", "tables"), watch)

What is pure stands apart from what opens files: `tables` and `schema` say what the tables are, `arrow` turns rows into
Arrow, `decoding` turns frames into tables (Spark runs the same function). `files`, `spans`, `reading`, `parquet`,
`target`, `work`, `workers` and `batch` touch the file system. Needs pyarrow: `pip install 'zdissect[batch]'`.
"""
