"""Contract: Client and patient; Clients and patients."""

from support.breaking import edited, replaced
from support.partner_side import Partner, Row
from support.rules import rule

RECORD, ENDPOINTS = "Resources / Client and patient", "Endpoints / Clients and patients"


def found(partner: Partner, path: str, **query: str) -> list[Row]:
    rows = partner.page(path, **query)
    assert isinstance(rows, list)
    return rows


def with_pets(partner: Partner, number: int = 2) -> Row:
    return next(client for client in found(partner, "clients", name="a") if len(client["patients"]) >= number)


@rule(
    RECORD,
    edited(
        "resources.people:render_clients",
        '"patients", "remote_id")',
        '"patients", pl.lit(7).alias("remote_id"))',
    ),
    says="client",
)
def test_a_client_has_its_fields(partner: Partner) -> None:
    client = with_pets(partner)
    assert set(client) == {"id", "name", "email", "phone", "patients", "remote_id"}
    texts = {name: value for name, value in client.items() if name != "patients" and value is not None}
    assert all(isinstance(value, str) for value in texts.values())


@rule(
    RECORD,
    edited("resources.people:render_patients", '"species", ', 'pl.lit(4).alias("species"), '),
    says="patient",
)
def test_a_patient_has_its_fields(partner: Partner) -> None:
    for patient in with_pets(partner)["patients"]:
        assert set(patient) == {"id", "name", "client_id", "species", "breed"}
        assert all(isinstance(value, str) for value in patient.values())


@rule(
    RECORD,
    edited("resources.people:render_clients", '.agg("patients")', '.agg(pl.col("patients").head(1))'),
    says="all patients",
)
@rule(
    RECORD, edited("resources.people:render_patients", "owners.alias", "owners.reverse().alias"), says="client_id"
)
def test_a_client_holds_its_own_patients(partner: Partner) -> None:
    for client in found(partner, "clients", name="Smith"):
        assert {patient["client_id"] for patient in client["patients"]} == {client["id"]}
        assert client["patients"] == found(partner, "patients", client_id=client["id"])


@rule(
    "Errors",
    edited("server.people:clients", "name is None and email is None and phone is None", "False"),
    says="Clients list",
)
@rule(
    ENDPOINTS,
    edited("server.people:clients", "query.fault(None", 'query.fault("name"'),
    says="at least one is required",
)
def test_clients_want_at_least_one_criterion(partner: Partner) -> None:
    assert partner.fields_at_fault("clients") == [None]


@rule(
    "Limits",
    replaced("server.people:MOST_CLIENTS", 99),
    replaced("server.people:MOST_CLIENTS", 101),
    says="100 clients",
)
def test_at_most_a_hundred_clients_are_returned(partner: Partner) -> None:
    assert len(found(partner, "clients", name="a")) == 100


@rule(
    ENDPOINTS,
    edited("server.people:clients", '_holds("name", name)', '_holds("name", None)'),
    says="name",
    field="name",
)
@rule(
    ENDPOINTS, edited("server.people:clients", "if email is not None:", "if False:"), says="email", field="email"
)
@rule(
    ENDPOINTS, edited("server.people:clients", "if phone is not None:", "if False:"), says="phone", field="phone"
)
def test_clients_are_found_by_each_criterion(partner: Partner, field: str) -> None:
    known = next(client for client in found(partner, "clients", name="a") if client["email"] and client["phone"])
    read = found(partner, "clients", **{field: known[field]})
    assert known in read
    assert {client[field] for client in read} == {known[field]}


@rule(
    ENDPOINTS,
    edited("server.people:clients", 'chosen &= pl.col("phone")', 'chosen |= pl.col("phone")'),
    says="all of them",
)
def test_criteria_hold_together(partner: Partner) -> None:
    known = found(partner, "clients", name="a")[0]
    assert found(partner, "clients", phone=known["phone"], name="Nobody") == []


ONE = 'success(table.records(snapshot.frame.filter(owned & _holds("name", name)), snapshot))'
PAGED = '"content": table.records(snapshot.frame.filter(owned & _holds("name", name)), snapshot)'


@rule(
    ENDPOINTS,
    edited("server.people:patients", ONE, f"success({{{PAGED}}})"),
    says="plain array: patients",
    path="patients",
)
@rule(
    ENDPOINTS,
    edited(
        "server.people:clients",
        "return success(table.records(snapshot.frame.filter(chosen).head(MOST_CLIENTS), snapshot))",
        'return success({"content": []})',
    ),
    says="plain array: clients",
    path="clients",
)
def test_data_is_a_plain_array(partner: Partner, path: str) -> None:
    query = {"clients": {"name": "a"}, "patients": {"client_id": "10000001"}}[path]
    rows = partner.page(path, **query)
    assert isinstance(rows, list)
    assert rows


@rule(
    ENDPOINTS, edited("server.people:patients", "if client_id is None:", "if False:"), says="client_id is required"
)
def test_patients_want_a_client(partner: Partner) -> None:
    assert partner.fields_at_fault("patients") == ["client_id"]


@rule(ENDPOINTS, edited("server.people:patients", "filter(owned & ", "filter("), says="patients of one client")
def test_patients_are_those_of_one_client(partner: Partner) -> None:
    client = with_pets(partner)
    assert found(partner, "patients", client_id=client["id"]) == client["patients"]


@rule(
    ENDPOINTS, edited("server.people:_holds", "if text is None:", 'if column == "name":'), says="patients by name"
)
def test_patients_may_be_filtered_by_name(partner: Partner) -> None:
    client = with_pets(partner)
    names = {patient["name"] for patient in client["patients"]}
    assert len(names) > 1
    for name in names:
        read = found(partner, "patients", client_id=client["id"], name=name)
        assert read == [patient for patient in client["patients"] if patient["name"] == name]


NEIGHBOUR = edited(
    "server.records:_body", "bodies[ends[place] : ends[place + 1]]", "bodies[ends[place + 1] : ends[place + 2]]"
)


@rule(ENDPOINTS, NEIGHBOUR, says="get a client", path="clients")
@rule(ENDPOINTS, NEIGHBOUR, says="get a patient", path="patients")
def test_one_is_got_by_id(partner: Partner, path: str) -> None:
    client = with_pets(partner)
    known = client if path == "clients" else client["patients"][1]
    assert partner.page(f"{path}/{known['id']}") == known
