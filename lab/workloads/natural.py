"""What requests to real models are made of: plain text, secrets, and a tool to hand them to.

One rule: whatever a reply must hold is spelled out in its prompt, letter by letter, so the due call
is known whatever the model.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from lab.records import TurnPlan

if TYPE_CHECKING:
    from random import Random

    from lab.workloads.manuals import Words

Form = Literal["natural", "manual"]
NATURAL_ONLY = (
    "the bundled model only follows manuals: accepted: form: manual (`--set workload.form=manual`)"
)
CODE_LENGTH = 10  # letters and digits of a secret
# One token each in most vocabularies; with the space before it a word is about five bytes.
PLAIN = (
    "the day was long and the river ran past old houses while people on the road spoke of rain "
    "bread fire stone glass paper wood light snow wind hill field gate wall door lamp table chair "
    "horse bird fish leaf seed root salt milk corn ship sail rope bell coin ring king book page"
).split()
HAND_OVER = {
    "type": "function",
    "function": {
        "name": "hand_over",
        "description": "Hands a code and some words over to the archive, as they are.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "words": {"type": "string"}},
            "required": ["code", "words"],
            "additionalProperties": False,
        },
    },
}


def prose(rng: Random, words: int) -> str:
    """Plain lower-case text of exactly so many words, which says nothing."""
    return " ".join(rng.choices(PLAIN, k=words))


def code(rng: Random, words: Words) -> str:
    """A secret that the load has not used yet."""
    return words.nonce(rng, CODE_LENGTH, set())


def handing_over(secret: str, text: str) -> TurnPlan:
    """The turn that asks for one call of ``hand_over``, with these two arguments."""
    arguments = {"code": secret, "words": text}
    asked = f"Call hand_over with exactly these arguments: {json.dumps(arguments)}"
    return due("Make one call and change no letter. " + asked, "hand_over", arguments)


def due(asked: str, name: str, arguments: dict[str, Any], **result: str) -> TurnPlan:
    """A turn that the user asks, and whose call is known; ``result`` is what the tool tells."""
    return TurnPlan(
        prompt_messages=({"role": "user", "content": asked},),
        expected_text="",
        expected_call={"name": name, "arguments": arguments},
        tool_result=json.dumps({"status": "ok", **result}),
    )


def told(secret: str, words: int) -> TurnPlan:
    """The turn that asks for free text of about so many words: what is due is not known."""
    asked = f"Write the code {secret}, then go on with the text above for about {words} words."
    return TurnPlan(
        prompt_messages=({"role": "user", "content": asked},),
        expected_text="",
        expected_call={},
        tool_result="",
    )
