"""Elements by place: `x[key]`, masks, gather and scatter."""
