"""The recorder of the real torch: what a program does with the torch that it runs on, as events of a trace."""
