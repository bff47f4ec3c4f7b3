"""Sign-in, practices and errors, where the contract leaves them open."""

from support.partner_side import Partner


def test_signing_in_again_leaves_older_tokens_good(partner: Partner) -> None:
    first = partner.http.headers["Authorization"]
    partner.sign_in()
    partner.http.headers["Authorization"] = first
    assert partner.get("staff_tasks").status_code == 200


def test_a_foreign_practice_is_403(partner: Partner) -> None:
    partner.http.headers["X-Client-Id"] = "loc-999"
    assert partner.get("staff_tasks").status_code == 403


def test_an_unknown_path_gets_the_general_error_envelope(partner: Partner) -> None:
    answer = partner.get("nothing_here")
    assert answer.status_code == 404
    assert answer.json() == {"success": False, "message": "Not Found"}


def test_the_date_header_tells_the_platforms_clock(partner: Partner) -> None:
    told = partner.get("staff_tasks").headers["Date"]
    assert told == partner.platform.now().strftime("%a, %d %b %Y %H:%M:%S GMT")
