#!/usr/bin/env python3
"""Checks letters against their published schema: letter_schema_test.py SCHEMA PROGRAM, which prints letters."""

import copy
import json
import subprocess
import sys

from jsonschema import Draft202012Validator


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    lines = subprocess.run([sys.argv[2]], check=True, capture_output=True).stdout.decode("utf-8").splitlines()
    letters = [json.loads(line) for line in lines]
    assert len(letters) >= 5, "the program printed too little"
    for letter in letters:
        validator.validate(letter)

    # Every key that we write is described, and the required ones are those that are always there.
    described = set(schema["properties"])
    for letter in letters:
        assert set(letter) <= described, set(letter) - described
        assert set(letter["client"]) == set(schema["properties"]["client"]["properties"])
        for attempt in letter["attempts"]:
            assert set(attempt) == set(schema["properties"]["attempts"]["items"]["properties"])
    always = set.intersection(*(set(letter) for letter in letters))
    assert always == set(schema["required"]), always ^ set(schema["required"])

    # The schema can say no.
    for path, value in (
        (("schema",), 2),
        (("id",), ""),
        (("monitor",), 7),
        (("priority",), "urgent"),
        (("payload", "data"), "Zg="),
        (("attempts",), []),
        (("attempts", 0, "n"), -1),
        (("failed_at",), "yesterday"),
        (("client", "pid"), "7"),
    ):
        wrong = copy.deepcopy(letters[0])
        inner = wrong
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        assert not validator.is_valid(wrong), path
    print(f"{len(letters)} letters are what the schema describes.")


if __name__ == "__main__":
    main()
