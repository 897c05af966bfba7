"""Every test process uses one core: two of them share the machine, and spinning threads stall.

One rule: no test fails because the machine is slow, so an example may take as long as it takes.
"""

import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
