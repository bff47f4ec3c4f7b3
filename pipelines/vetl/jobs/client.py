"""The client of the configured platform and its query parameters, for sync, doctor and drain."""

from functools import partial

from vetl.core.endpoint import QueryNames
from vetl.core.errors import ConfigurationError
from vetl.endpoints import REGISTRY
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.limits import RetryPolicy
from vetl.settings import Settings
from vetl.store.notes import read_note, write_note


def partner_client(settings: Settings) -> PartnerClient:
    """Return a client that records beside the warehouse that its credentials were accepted once."""
    login, partner = settings.login(), settings.partner
    account = Account(
        login.base_url, login.username, login.password, login.role, allow_plain_http=partner.allow_plain_http
    )
    limits = Limits(
        max_in_flight=partner.max_in_flight,
        requests_per_minute=partner.requests_per_minute,
        requests_per_minute_total=partner.requests_per_minute_total,
        timeout_seconds=partner.timeout_seconds,
    )
    policy = RetryPolicy(max_wait=partner.max_wait_seconds, max_run=partner.max_run_seconds)
    warehouse = settings.warehouse.path
    accepted = AcceptedCredentials(
        partial(read_note, warehouse, "credentials"), partial(write_note, warehouse, "credentials")
    )
    return PartnerClient(account, limits, retry_policy=policy, accepted=accepted)


def query_names(settings: Settings) -> dict[str, QueryNames]:
    """Return the query parameters of every list by its name."""
    names = [endpoint.name for endpoint in REGISTRY]
    unknown = [name for name in settings.partner.parameters if name not in names]
    if unknown:
        raise ConfigurationError(
            f"partner.parameters.{unknown[0]}: there is no such list; known are {', '.join(names)}"
        )
    return {endpoint.name: settings.partner.query_names(endpoint.name, endpoint.names) for endpoint in REGISTRY}
