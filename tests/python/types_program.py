"""What a type checker tells a user: read by mypy alone, for which an ignored error that is none is an error."""

import forelock


def save(client: forelock.Client) -> None:
    forelock.lock(client, "P1", priority="background")
    forelock.lock(client, "P1", priority=forelock.Priority.FOREGROUND)
    forelock.lock(client, "P1", priority="hi")  # type: ignore[arg-type]
    with forelock.lock(client, "P1", timeout=5) as held:
        held.acquire("5")  # type: ignore[arg-type]
