"""What an arm is run against, one file a target.

One rule: a target turns settings into a finished history; it starts and stops whatever it needs.
"""

from lab.targets.base import TARGETS, Task, Watch, absent, failed, failure

__all__ = ["TARGETS", "Task", "Watch", "absent", "failed", "failure"]
