"""Methods and functions that write to their tensor."""
