"""From a corruption rate to the toggles that it takes, with stated error.

One rule: everything here is pure over a `World` that answers probes, so the same search runs on
simulated worlds, on the bundled engine and on real servers.

    reproduce -> discover -> confirm -> threshold, a file each; `search` calls them in order
    space      which configurations and which culprits there are
    trials     what a probe answers, and how it is counted
    notebook   every probe that was paid for, the budget, and whoever watches
"""
