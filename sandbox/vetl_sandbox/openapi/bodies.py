"""Request bodies as schemas, with the limits that the platform enforces (contract: Limits)."""

from typing import Any

from vetl_sandbox import contract
from vetl_sandbox.openapi.shapes import INSTANT, INTEGER, PHONE, TEXT, Schema, array, body, choice, ref, text, uri
from vetl_sandbox.switches import Switches
from vetl_sandbox.world import vocabulary as v


def body_schemas(switches: Switches) -> dict[str, Schema]:
    """Return the schema of every request body and of its parts."""
    return {
        "SignIn": body(dict.fromkeys(("username", "password", "role"), TEXT), ("username", "password", "role")),
        "NewMessage": _new_message(switches),
        "MessageContent": _content(),
        "Card": _card(),
        "Button": _button(),
        "NewAiOutboundRequest": _new_outreach(switches),
        "NewAppointment": _new_appointment(),
        "NewStaffTask": body(_task(), ("title",)),
        "StaffTaskChanges": body(
            _task() | {"status": choice(v.TASK_STATUSES.values)}, description="Only provided fields change."
        ),
    }


def _new_message(switches: Switches) -> Schema:
    recipient = body(
        {"client_id": TEXT | {"description": "To the client's primary phone"}, "phone_number": PHONE},
        description="One of the two; client_id if both are given.",
    )
    fields = {
        "recipient": recipient,
        "fallback_text": text(
            contract.FALLBACK_TEXT,
            minLength=1,
            description="The SMS, and the copy in the practice's inbox; stands alone.",
        ),
        "channel": choice(
            contract.CHANNELS,
            default="auto",
            description="auto: RCS if both sides can, else SMS. rcs: never SMS. sms: fallback_text alone.",
        ),
        "content": ref("MessageContent"),
        "reference_id": TEXT | {"description": "Unique per practice: sent again, it returns the same message."},
        "callback_url": uri(switches.callback_schemes) | {"description": "Gets a webhook on each status change."},
    }
    return body(fields, ("recipient", "fallback_text"))


def _content() -> Schema:
    few, many = contract.FEWEST_CARDS, contract.MOST_CARDS
    fields = {
        "type": choice(contract.CONTENT_TYPES),
        "media_url": uri(("https", "http")) | {"description": "media only, and required there"},
        "card": ref("Card"),
        "cards": array(ref("Card"), few, many) | {"description": f"carousel only, {few} to {many}"},
        "suggestions": array(ref("Button"), most=contract.SUGGESTIONS) | {"description": "not for a carousel"},
    }
    return body(fields, ("type",))


def _card() -> Schema:
    fields = {
        "title": text(contract.TITLE),
        "description": text(contract.DESCRIPTION),
        "media_url": uri(),
        "buttons": array(ref("Button"), most=contract.BUTTONS),
    }
    return body(fields, description="At least a title or a description.")


def _button() -> Schema:
    label = f"The label; at most {contract.REPLY_LABEL} characters for reply"
    fields = {
        "type": choice(contract.BUTTON_TYPES),
        "text": text(contract.LABEL, minLength=1, description=label),
        "url": uri() | {"description": "open_url only, and required there"},
        "phone_number": PHONE | {"description": "dial only, and required there"},
        "id": TEXT | {"description": "reply only; the label if not given"},
    }
    return body(fields, ("type", "text"))


def _new_outreach(switches: Switches) -> Schema:
    fields = {
        "partner_request_id": TEXT | {"description": "Sent again, it returns the same request."},
        "channel": choice(v.CHANNELS.values, default="sms"),
        "purpose": choice(v.PURPOSES.values, default="general"),
        "client_id": TEXT,
        "contact_number": PHONE,
        "patient_id": TEXT,
        "context": TEXT,
        "callback_url": uri(switches.callback_schemes) | {"description": "Gets one webhook, at the end."},
    }
    return body(fields, description="With client_id or contact_number. The contract does not show this body.")


def _new_appointment() -> Schema:
    fields: dict[str, Any] = {
        "slot_id": text(minLength=1, description="The uuid of an open time"),
        "client_id": INTEGER,
        "client_remote_id": TEXT,
        **dict.fromkeys(("first_name", "last_name", "phone", "email"), TEXT),
        "patient_id": INTEGER,
        "patient_remote_id": TEXT,
        "note": TEXT,
        "status": choice(v.SETTABLE_STATUSES.values, description="ACCEPTED if not given"),
    }
    who = (
        "The client by client_id, client_remote_id, or first_name, last_name and phone or email; the patient by "
        "patient_id or patient_remote_id."
    )
    return body(fields, ("slot_id",), description=who)


def _task() -> dict[str, Schema]:
    return {
        "title": text(minLength=1),
        "description": TEXT,
        "task_type": choice(v.TASK_TYPES.values),
        "client_id": TEXT,
        "patient_id": TEXT,
        "reference_time_at": INSTANT,
    }
