"""The clients: they send the plans' turns, execute the tools and write down what came back.

One rule: the driver records; it never judges, and never replaces a bad reply by the expected one.
"""

from lab.driver.drive import Load, drive
from lab.driver.in_process import InProcess
from lab.driver.recorder import Recorder

__all__ = ["InProcess", "Load", "Recorder", "drive"]
