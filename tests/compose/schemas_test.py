#!/usr/bin/env python3
"""Checks the manifests of config/kubernetes against Kubernetes' own schemas: schemas_test.py ROOT

The schemas are those that the Python package kubernetes-validate has inside, which scripts/kubernetes_schemas.sh
fetches: made from the API's description of each version. Strict: a key that they do not know is refused.
"""

import copy
import json
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
# The newest, and the oldest that providers still support.
VERSIONS = ("1.37.0", "1.31.0")


class SchemasTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        told = subprocess.run([ROOT / "scripts/kubernetes_schemas.sh"], check=True, stdout=subprocess.PIPE, text=True)
        cls.schemas = Path(told.stdout.strip())
        cls.objects = [one for file in sorted((ROOT / "config/kubernetes").glob("*.yaml"))
                       for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]

    def problems(self, one, version):
        folder = self.schemas / f"v{version}-local-strict"
        group, _, level = one["apiVersion"].rpartition("/")
        name = "-".join(word for word in (one["kind"].lower(), group.split(".")[0], level) if word)
        schema, definitions = (json.loads((folder / file).read_text(encoding="utf-8"))
                               for file in (f"{name}.json", "_definitions.json"))
        # Nothing is looked up anywhere else.
        resolver = jsonschema.RefResolver.from_schema(
            schema, store={urllib.parse.urljoin(schema.get("$id", ""), "/api/_definitions.json"): definitions})
        validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
        return [f"{'/'.join(map(str, problem.absolute_path))}: {problem.message}"
                for problem in validator.iter_errors(one)]

    def test_the_manifests_are_what_kubernetes_takes(self):
        self.assertEqual([one["kind"] for one in self.objects], ["StatefulSet", "Job", "ConfigMap", "Deployment"])
        for version in VERSIONS:
            for one in self.objects:
                self.assertEqual(self.problems(one, version), [], f"{one['kind']} in {version}")

    def test_what_is_wrong_is_found(self):
        deployment = self.objects[3]
        for change in (lambda pod: pod.update(automountServiceAccount=False),
                       lambda pod: pod["containers"][0].pop("name"),
                       lambda pod: pod["securityContext"].update(runAsUser="forelock"),
                       lambda pod: pod["containers"][0]["volumeMounts"].append({"mountPath": "/tmp"})):
            changed = copy.deepcopy(deployment)
            change(changed["spec"]["template"]["spec"])
            for version in VERSIONS:
                self.assertNotEqual(self.problems(changed, version), [])


if __name__ == "__main__":
    unittest.main()
