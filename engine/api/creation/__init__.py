"""New tensors: from existing data, filled, counted, by torch's old constructors; and properties of dtypes."""
