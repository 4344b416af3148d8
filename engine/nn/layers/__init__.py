"""The layers of torch.nn, one file per kind; modules, parameters and containers are beside this folder."""
