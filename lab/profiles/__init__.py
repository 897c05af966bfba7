"""Launch profiles: how foreign servers are started and read, one YAML file each.

`models.py` says what a profile is, `commands.py` what it runs.
"""

from lab.profiles.commands import NodeCommand, boot_key, commands, example_ports, model_name
from lab.profiles.loader import known, load_profile
from lab.profiles.models import Profile
from lab.profiles.readback import Readback, same

__all__ = [
    "NodeCommand",
    "Profile",
    "Readback",
    "boot_key",
    "commands",
    "example_ports",
    "known",
    "load_profile",
    "model_name",
    "same",
]
