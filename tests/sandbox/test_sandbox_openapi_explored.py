"""schemathesis goes through the interface by its description: chains of calls, right and wrong.

No request may get a 500, or a status or answer outside the description.
"""

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import FlakyStrategyDefinition
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks
from support.examples import examples
from support.partner_side import Partner
from vetl_sandbox import Switches
from vetl_sandbox.openapi.description import describe

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.missing_required_header,
    checks.allow_header_conformance,
]
TAGS = sorted(
    {
        operation["tags"][0]
        for methods in describe(Switches())["paths"].values()
        for name, operation in methods.items()
        if name != "parameters" and any("links" in answer for answer in operation["responses"].values())
    }
)
"""Groups of operations that lead to one another."""


def limited(few: int) -> settings:
    return settings(
        max_examples=examples(few),
        stateful_step_count=8,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def real(partner: Partner) -> dict[str, dict[str, Any]]:
    """Return values that no generator can know: existing people."""
    patient = partner.truth("patients")[0]
    someone = {"client_id": patient["client_id"], "patient_id": patient["id"]}
    return {
        "createMessage": {"recipient": {"client_id": patient["client_id"]}, "content": None},
        "createStaffTask": someone,
        "createAiOutboundRequest": {"client_id": None, "patient_id": None, "contact_number": "+12125550139"},
        "createAppointment": {name: int(number) for name, number in someone.items()},
        "updateStaffTask": someone,
        "listClients": {"name": partner.truth("clients")[0]["name"]},
    }


def explored(partner: Partner, schema: Any, mode: GenerationMode, few: int) -> Counter[tuple[str, int]]:
    """Return how often each operation was answered with each status."""
    schema.config.update(base_url=partner.platform.base_url)
    schema.config.generation.update(modes=[mode])
    answers: Counter[tuple[str, int]] = Counter()
    inputs = real(partner) if mode.is_positive else {}

    class Explorer(schema.as_state_machine()):
        def before_call(self, case: Case[Any]) -> None:
            if isinstance(case.body, dict):
                case.body |= inputs.get(name_of(case), {})
            elif name_of(case) in inputs:
                case.query = inputs[name_of(case)]

        def get_call_kwargs(self, case: Case[Any]) -> dict[str, Any]:  # noqa: ARG002 - the same for all
            return {"headers": dict(partner.http.headers.items())}

        def validate_response(self, response: Response, case: Case[Any], **_: Any) -> None:
            answers[name_of(case), response.status_code] += 1
            case.validate_response(response, checks=CHECKS)

    # The platform keeps the writes of earlier chains, so a prefix that hypothesis repeats can be answered
    # differently. That is no fault (schemathesis's own runner ignores it, too): the chains run again.
    for _ in range(3):
        with suppress(FlakyStrategyDefinition):
            Explorer.run(settings=limited(few))
            break
    return answers


def name_of(case: Case[Any]) -> str:
    return case.operation.definition.raw["operationId"]


def described(partner: Partner) -> Any:
    return schemathesis.openapi.from_dict(partner.http.get("/openapi.json").json())


@pytest.mark.parametrize("tag", TAGS)
def test_chains_of_calls_stay_within_the_description(partner: Partner, tag: str) -> None:
    """Every operation must have succeeded, or else too little was tried."""
    schema = described(partner).include(tag=tag)
    operations = [result.ok().definition.raw for result in schema.get_all_operations()]
    answers = explored(partner, schema, GenerationMode.POSITIVE, 8)
    successes = {one["operationId"]: max(int(of) for of in one["responses"] if of < "300") for one in operations}
    assert successes.items() <= set(answers)


def test_wrong_calls_are_refused_as_described(partner: Partner) -> None:
    answers = explored(partner, described(partner), GenerationMode.NEGATIVE, 12)
    assert sum(number for (_, status), number in answers.items() if status == 400) > 8
