"""The OpenAI-compatible ASGI application. It knows an engine by its facade and nothing of the lab.

Greedy decoding only: ``temperature``, ``top_p`` and ``seed`` are accepted and change nothing.
``tool_choice`` narrows what counts as a call; it cannot force the model to make one.
``POST /abort_request`` is SGLang's: who reads the generation gets what was said so far, with the
finish_reason "abort".
"""

from engine.api.app import create_app

__all__ = ["create_app"]
