"""Numbers with their units."""


def size(number: int) -> str:
    """`721 B`, `26.9 kB`."""
    value, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB", "TB"):  # noqa: B007
        if value < 9999.5:
            break
        value /= 1000
    return f"{number} B" if unit == "B" else f"{value:.1f} {unit}"


def duration(seconds: float) -> str:
    """`0.412 ms`, `10.25 s`, `1 h 2 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.3f} ms" if seconds < 0.01 else f"{seconds * 1000:.1f} ms"
    if seconds < 120:
        return f"{seconds:.2f} s"
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    return f"{minutes} min {int(seconds) % 60} s" if hours < 2 else f"{hours} h {minutes % 60} min"


def hertz(rate: float) -> str:
    """`9.98 /s`."""
    return f"{rate:.3g} /s" if rate < 1000 else f"{rate:.0f} /s"


def many(number: int, noun: str) -> str:
    """`1 frame`, `2 frames`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
