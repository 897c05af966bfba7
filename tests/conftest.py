"""Every test process uses one core: two of them share the machine, and spinning threads stall."""

import torch

torch.set_num_threads(1)
