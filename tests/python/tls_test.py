"""Locks over mutual TLS. A build without TLS refuses the settings, and says how to get it."""

import os
import ssl
import subprocess

import pytest
from conftest import PATIENCE

import forelock
from forelock import BlockingLock


@pytest.fixture
def secure():
    """The settings for a server with TLS."""
    host = subprocess.Popen([os.environ["FORELOCK_SERVER_HOST"], "tls"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    address, authority, certificate, key = host.stdout.readline().split()
    yield {"zookeeper_servers": address, "zookeeper_tls_ca_file": authority,
           "zookeeper_tls_certificate_file": certificate, "zookeeper_tls_key_file": key}
    host.communicate(timeout=PATIENCE)


def open_client(**settings):
    try:
        return forelock.Client(**settings)
    except forelock.ConfigurationException as refused:
        if "this build cannot speak TLS" in str(refused):
            pytest.skip(str(refused))
        raise


def test_locks_over_mutual_tls(secure):
    with open_client(**secure) as client:
        with BlockingLock(client, "P1", timeout=PATIENCE) as lock:
            assert lock.healthy
    # Both use one OpenSSL.
    assert ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED


def test_the_wrong_server_is_named(secure):
    client = open_client(**secure, zookeeper_tls_server_names="zk1.example")
    with client, pytest.raises(forelock.Error, match="not for zk1.example"):
        BlockingLock(client, "P1", timeout=PATIENCE).acquire()  # the client gives up before
