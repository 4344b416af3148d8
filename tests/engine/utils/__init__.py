"""`torch.save` and `torch.load`."""
