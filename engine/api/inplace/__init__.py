"""Methods and functions that write their tensor."""
