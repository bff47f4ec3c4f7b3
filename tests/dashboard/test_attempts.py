"""Guessing a password is slow for one sender and delays nobody else."""

from board.attempts import Attempts, network_of


def test_sixty_wrong_ones_do_not_delay_another_sender() -> None:
    attempts = Attempts(now=lambda: 100.0)

    waits = [attempts.wait_for("203.0.113.7") for _ in range(60)]

    assert waits[:8] == [0, 0, 0, 0, 0, 1, 2, None]
    assert set(waits[8:]) == {None}
    assert attempts.wait_for("198.51.100.1") == 0


def test_a_sender_may_try_once_a_second() -> None:
    clock = [0.0]
    attempts = Attempts(now=lambda: clock[0])
    tried = 0
    for second in range(3600):
        clock[0] = float(second)
        tried += sum(attempts.wait_for("203.0.113.7") is not None for _ in range(10))

    assert 3600 <= tried <= 3610


def test_a_flood_of_senders_takes_a_bounded_memory() -> None:
    clock = [0.0]
    attempts = Attempts(now=lambda: clock[0])
    for number in range(25_000):
        clock[0] += 0.001
        attempts.wait_for(str(number))

    assert len(attempts._free_at) <= 10_001  # pyright: ignore[reportPrivateUsage]


def test_one_holder_of_a_network_of_ipv6_is_one_sender() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1")
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:203.0.113.7") == network_of("203.0.113.7")
    assert network_of("unknown") == "unknown"
