"""Locks with SASL, with and without TLS. A build without SASL refuses the settings, and says how to get it."""

import os
import subprocess

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock


@pytest.fixture
def server():
    """The words of a server's first line."""
    host = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"], "sasl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    yield host.stdout.readline().split()
    host.communicate(timeout=PATIENCE)


def settings(servers, password_file, **more):
    return {"zookeeper_servers": servers, "zookeeper_sasl_mechanism": "DIGEST-MD5", "zookeeper_sasl_user": "alice",
            "zookeeper_sasl_password_file": password_file, **more}


def open_client(**values):
    try:
        return forelock.Client(**values)
    except forelock.ConfigurationException as refused:
        if "this build has no SASL" in str(refused):
            pytest.skip(str(refused))
        raise


def test_locks_with_sasl(server):
    plain, secure, authority, certificate, key, password, wrong = server
    tls = {"zookeeper_tls_ca_file": authority, "zookeeper_tls_certificate_file": certificate,
           "zookeeper_tls_key_file": key}
    for values in (settings(plain, password), settings(secure, password, **tls)):
        with open_client(**values) as client:
            with BlockingLock(client, "P1", timeout=PATIENCE) as lock:
                assert lock.healthy
    with open_client(**settings(plain, wrong)) as client:
        with pytest.raises(forelock.Error, match="refuses this client's credentials") as refused:
            BlockingLock(client, "P1", timeout=PATIENCE).acquire()
        assert refused.value.code == forelock.ErrorCode.NOT_AUTHORIZED
        assert "hunter2" not in str(refused.value)
