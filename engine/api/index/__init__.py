"""Elements by position: `x[key]`, masks, gather and scatter."""
