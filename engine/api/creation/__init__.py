"""New tensors: from what is there, filled, counted, by torch's old constructors; and what is known of dtypes."""
