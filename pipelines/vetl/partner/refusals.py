"""Turn refusals of the platform (contract: Errors) into vetl's errors, in pure functions."""

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from vetl.core.errors import (
    ConfigurationError,
    ContractBroken,
    NotFound,
    PracticeRefused,
    RateLimited,
    RequestRefused,
    SignInRefused,
    TokenRejected,
    TornAnswer,
    Unreachable,
    VetlError,
)
from vetl.partner.headers import http_date, retry_after
from vetl.partner.protocol import Answer, is_failure, payload
from vetl.partner.redaction import redact

_LOST = frozenset({404, 410, 501})
_PASSING = frozenset({408, 425})
_MOVED_FOR_GOOD = frozenset({301, 308})
_SIGN_IN_REFUSED = frozenset({400, 401, 403, 422})

_FIELDS_SHOWN = 5


def accepted(answer: Answer) -> bool:
    """Return whether the status is a success."""
    return 200 <= answer.status < 300  # noqa: PLR2004 - the 2xx class


def refusal(answer: Answer) -> VetlError:
    """Return the error for an answer with another status than 2xx."""
    status, text = answer.status, f"{answer.label}: {_phrase(answer.status)}"
    if status == HTTPStatus.UNAUTHORIZED:
        return TokenRejected(text)
    message, fields = _reasons(answer)
    text += f": {message}" if message else ""
    platform_time = http_date(answer.headers.get("date")) or answer.server_time
    wait = retry_after(answer.headers.get("retry-after"), platform_time)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimited(text, retry_after=wait)
    if status in _LOST:
        return NotFound(text, status=status)
    if status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unreachable(text, retry_after=wait)
    if status == HTTPStatus.FORBIDDEN:
        return PracticeRefused(f"{text}; are the credentials valid for this practice?", status=status)
    if status in _MOVED_FOR_GOOD:
        return RequestRefused(f"{text}; is partner.base_url the platform's address?", status=status)
    if status < HTTPStatus.BAD_REQUEST:
        return TornAnswer(f"{text}: not followed, no redirect or such is in the contract")
    return RequestRefused(text, status=status, fields=fields)


def token(answer: Answer) -> str:
    """Return the access token of a sign-in (contract: Sign-in); errors quote nothing of the answer.

    Raises:
        SignInRefused: username, password and role are not accepted.
        ConfigurationError: there is no sign-in at this address.
        Transient: the platform is not available now, or its answer is incomplete.
        ContractBroken: a success has no usable token.
    """
    if answer.status in _SIGN_IN_REFUSED:
        raise _sign_in_refused(answer)
    if not accepted(answer):
        error = refusal(replace(answer, body=b""))
        if isinstance(error, RequestRefused):
            raise ConfigurationError(
                f"partner.base_url: sign-in answers {_phrase(answer.status)}; is it the platform's address?"
            )
        raise error
    document = answer.json()
    if isinstance(document.value, dict) and is_failure(document.value):
        raise _sign_in_refused(answer)
    data = payload(answer, document)
    value = data.get("token") if isinstance(data, dict) else None
    if not isinstance(value, str) or not value or not all("!" <= char <= "~" for char in value):
        raise ContractBroken(f"{answer.label}: a success without a usable `data.token`")
    return value


def _sign_in_refused(answer: Answer) -> SignInRefused:
    return SignInRefused(
        f"sign-in refused ({_phrase(answer.status)}): check VETL_PARTNER__USERNAME, VETL_PARTNER__PASSWORD"
        " and VETL_PARTNER__ROLE"
    )


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _reasons(answer: Answer) -> tuple[str, tuple[tuple[str | None, str], ...]]:
    """Return a message with the first wrong fields of an error envelope, and all wrong fields."""
    try:
        envelope = answer.json().value
    except TornAnswer:
        return "", ()
    if not isinstance(envelope, dict):
        return "", ()
    fields = tuple(_field(item, answer.secrets) for item in _errors(envelope.get("data")))
    first = "; ".join(f"{name or 'request'}: {message}" for name, message in fields[:_FIELDS_SHOWN])
    more = f"; and {len(fields) - _FIELDS_SHOWN} more" if len(fields) > _FIELDS_SHOWN else ""
    return first + more or redact(envelope.get("message"), answer.secrets), fields


def _errors(data: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - any JSON value
    errors = data.get("errors") if isinstance(data, dict) else None
    return [item for item in errors if isinstance(item, dict)] if isinstance(errors, list) else []


def _field(item: dict[str, Any], secrets: tuple[str, ...]) -> tuple[str | None, str]:
    name = redact(item.get("field"), secrets)
    return name or None, redact(item.get("message"), secrets) or "no reason"
