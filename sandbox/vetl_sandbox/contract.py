"""Constants of the contract that both the server and its OpenAPI description use."""

from typing import Final

ROOT: Final = "/services/core/open_api/v1"
SIGN_IN: Final = "/services/user/v1/auth/sign-in"

DEFAULT_SIZE: Final = 50
CSV_DEFAULT_SIZE: Final = 1000
CSV_COLUMNS: Final = (
    "Date", "Practice", "Direction", "Status", "Caller Type", "Client", "Patient", "Phone Number", "Intent",
    "Booking Intent", "Summary", "Sentiment", "Outcome", "Booked", "Duration",
)  # fmt: skip
MOST_CLIENTS: Final = 100

SENDING_HOURS: Final = range(8, 21)
"""Local hours in which texts go out: 8am to 9pm."""
USED_CHANNELS: Final = ("rcs", "sms")
CHANNELS: Final = ("auto", *USED_CHANNELS)
FALLBACK_TEXT: Final = 1600
CONTENT_TYPES: Final = ("text", "media", "card", "carousel")
BUTTON_TYPES: Final = ("open_url", "dial", "reply")
TITLE, DESCRIPTION = 200, 1600
BUTTONS, SUGGESTIONS = 4, 11
FEWEST_CARDS, MOST_CARDS = 2, 10
LABEL, REPLY_LABEL = 25, 20
