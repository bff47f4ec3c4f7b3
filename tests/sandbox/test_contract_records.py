"""Contract: the Get endpoints. Lists, and the fields and values of records, are tested elsewhere.

`test_contract_lists.py` compares lists with a model, `test_sandbox_openapi.py` records with the description, and
`tests/partner/test_against_sandbox.py` the description with the models of vetl.
"""

import pytest
from support.partner_side import Partner

PATHS = {
    "phone_calls": "phone_calls",
    "booking_sessions": "booking_sessions",
    "ai_outbound": "ai_outbound/requests",
    "clients": "clients",
    "patients": "patients",
}


@pytest.mark.parametrize("name", PATHS)
def test_a_record_stands_directly_under_data_and_is_of_one_practice(partner: Partner, name: str) -> None:
    """The contract does not show the status of a record that is not there: here it is a 404."""
    record = partner.truth(name)[-2]
    path = f"{PATHS[name]}/{record['id']}"
    assert partner.get(path).json() == {"success": True, "data": record, "message": None}
    for unknown in ("x", "0123456789abcdef", "99999999999999999999"):
        assert partner.get(f"{PATHS[name]}/{unknown}").status_code == 404
    partner.act_for("loc-002")
    assert partner.get(path).status_code == 404
