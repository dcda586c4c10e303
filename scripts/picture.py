#!/usr/bin/env python3
"""Draws a run of the demonstration as docs/demo.svg: scripts/picture.py PROGRAM...

PROGRAM... is the command that runs it, such as: forelock dev -- forelock-demo
The picture shows the middle of the first phase and the table at the end, in the terminal's colours.
"""

import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

COLUMNS, ROWS = 84, 40
STEP = re.compile(r"\x1b\[(?P<arguments>[0-9;?]*)(?P<verb>[A-Za-z])|(?P<control>[\r\n])|(?P<character>[^\x1b])")
COLOURS = {"1": "#ffffff", "2": "#7d8590", "31": "#ff7b72", "32": "#56d364", "33": "#e3b341", "36": "#56d4dd"}
PLAIN = "#c9d1d9"
LINE, CHARACTER, MARGIN = 19, 8.43, 16


def output_of(command):
    """What the command writes to a terminal, as text."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the terminal has no writer any more
            break
        if not piece:
            break
        written += piece
    if os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != 0:
        sys.exit("picture.py: the demonstration has failed")
    return written.decode()


def screens_of(text):
    """The screen before each redrawing, and at the end: lists of lines of (character, colour)."""
    lines, row, column, colour, screens = [[]], 0, 0, PLAIN, []
    for step in STEP.finditer(text):
        if step["verb"] == "A":
            screens.append([list(line) for line in lines])
            row = max(0, row - int(step["arguments"] or 1))
        elif step["verb"] == "K":
            del lines[row][column:]
        elif step["verb"] == "m":
            colour = COLOURS.get(step["arguments"], PLAIN)
        elif step["control"] == "\r":
            column = 0
        elif step["control"] == "\n":
            row += 1
            lines += [[] for _ in range(row + 1 - len(lines))]
        elif step["character"]:
            line = lines[row]
            line += [(" ", PLAIN)] * (column + 1 - len(line))
            line[column] = (step["character"], colour)
            column += 1
    return screens + [lines]


def text_of(line):
    return "".join(character for character, _ in line)


def tail(lines, first):
    """The lines from the last one that begins with `first` on."""
    begin = max(number for number, line in enumerate(lines) if text_of(line).startswith(first))
    return lines[begin:]


def svg_line(line, y):
    runs = []
    for character, colour in line:
        if runs and runs[-1][1] == colour:
            runs[-1][0] += character
        else:
            runs.append([character, colour])
    spans = "".join(f'<tspan fill="{colour}">{html.escape(text)}</tspan>' for text, colour in runs)
    return f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{spans}</text>'


def svg_of(lines):
    width, height = round(2 * MARGIN + COLUMNS * CHARACTER), 2 * MARGIN + LINE * len(lines)
    body = "\n".join(svg_line(line, MARGIN + LINE * number + 13) for number, line in enumerate(lines) if line)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-size="14"\n'
        f'     font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">\n'
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>\n{body}\n</svg>\n'
    )


def main():
    screens = screens_of(output_of(sys.argv[1:]))
    first = [screen for screen in screens if any(text_of(line).startswith("1. Two classes") for line in screen[-14:])]
    running = tail(first[len(first) // 2], "1. Two classes")
    table = tail(screens[-1], "How long work waited")
    end = next(number for number, line in enumerate(table) if text_of(line).startswith("What the articles saw"))
    while running and not text_of(running[-1]).strip():
        running.pop()
    (Path(__file__).parent.parent / "docs" / "demo.svg").write_text(
        svg_of(running + [[]] + table[: end - 1]), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
