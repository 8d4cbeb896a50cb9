"""How Spark is started where it does little."""

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that ends before it would have compiled its code well: so it doesn't try."""
CONF = {"spark.driver.extraJavaOptions": SHORT_LIVED, "spark.executor.extraJavaOptions": SHORT_LIVED}
ARGUMENTS = [word for name, value in CONF.items() for word in ("--conf", f"{name}={value}")]
