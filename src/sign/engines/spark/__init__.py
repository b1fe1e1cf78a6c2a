"""Products on Apache Spark, for graphs that outgrow a machine."""
