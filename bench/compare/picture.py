"""Bars and curves as small SVG files, one line of text for each thing that is drawn."""

from html import escape

CHARACTER = 6.2  # the mean width of one, at 11 px
STYLE = ("text{font:11px sans-serif;fill:#202124}.t{font-weight:bold}.s{fill:#5f6368}.e{text-anchor:end}"
         ".m{text-anchor:middle}.w{stroke:#202124}.a{stroke:#9aa0a6;fill:none}")


def document(width, height, lines):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}">',
                      f"<style>{STYLE}</style>", f'<rect width="{width}" height="{height}" fill="#fff"/>',
                      *lines, "</svg>"]) + "\n"


def words(x, y, text, kind=""):
    named = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.0f}" y="{y:.0f}"{named}>{escape(text)}</text>'


def bars(panels, width=700):
    """Each panel is a title, a unit and rows: a name, a colour, the lowest, median and highest value, and what to say.

    Every panel has its own scale.
    """
    left = 12 + CHARACTER * max(len(row[0]) for panel in panels for row in panel[2])
    right = 20 + CHARACTER * max(len(row[5]) for panel in panels for row in panel[2])
    lines, y = [], 8
    for title, unit, rows in panels:
        y += 12
        lines.append(words(4, y, title, "t") + words(width - 4, y, unit, "s e"))
        scale = (width - left - right) / max(row[4] for row in rows)
        for name, colour, lowest, median, highest, said in rows:
            y += 17
            lines.append(words(left - 6, y, name, "e") +
                         f'<rect x="{left:.0f}" y="{y - 10}" width="{scale * median:.1f}" height="12" '
                         f'fill="{colour}"/>' +
                         f'<path d="M{left + scale * lowest:.1f} {y - 4}H{left + scale * highest:.1f}" class="w"/>' +
                         words(left + scale * highest + 6, y, said))
        y += 12
    return document(width, y, lines)


def curve(series, ticks, labels, width=600, height=300):
    """Each series is a name, a colour and points (x, y); x has the ticks as steps of equal width."""
    left, top, right, bottom = 46, 16, width - 20, height - 40
    highest = max(y for _, _, points in series for _, y in points) * 1.1
    steps = {tick: left + (right - left) * (i + 0.5) / len(ticks) for i, tick in enumerate(ticks)}

    def height_of(value):
        return bottom - (bottom - top) * value / highest

    lines = [f'<path d="M{left} {top}V{bottom}H{right}" class="a"/>', words(left, top - 4, labels[1], "s"),
             words((left + right) / 2, height - 6, labels[0], "s m")]
    lines += [words(steps[tick], bottom + 16, f"{tick:,}", "m") for tick in ticks]
    step = max(1, round(highest / 5))
    for value in range(0, int(highest) + 1, step):
        lines.append(words(left - 6, height_of(value) + 4, str(value), "e"))
    for i, (name, colour, points) in enumerate(series):
        path = "L".join(f"{steps[x]:.1f} {height_of(y):.1f}" for x, y in points)
        lines.append(f'<path d="M{path}" stroke="{colour}" fill="none" stroke-width="2"/>' + "".join(
            f'<circle cx="{steps[x]:.1f}" cy="{height_of(y):.1f}" r="3" fill="{colour}"/>' for x, y in points))
        y = bottom - 16 * (len(series) - i)
        lines.append(f'<rect x="{left + 14}" y="{y - 9}" width="10" height="10" fill="{colour}"/>' +
                     words(left + 30, y, name))
    return document(width, height, lines)
