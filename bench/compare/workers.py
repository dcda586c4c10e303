"""The programs of a comparison: servers, proxies and workers, each asked and answering in lines of JSON."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent / "peers"
OURS = ("raw", "create-delete", "forelock", "forelock-c", "forelock-linger", "forelock-predecessor")


class Talker:
    """A child process that is asked and answers in lines of JSON, from its first line on."""

    def __init__(self, name, command):
        self.name = name
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hello = self.read()

    def read(self):
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has ended with {self.child.wait()}")
        return json.loads(line)

    def ask(self, question):
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()

    def answer(self, question):
        self.ask(question)
        return self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Programs:
    """Where the programs are; starts them."""

    def __init__(self, programs, peers, sync):
        self.programs = programs
        self.peers = peers
        self.sync = sync

    def servers(self, *options):
        return Talker("bench_servers", [f"{self.programs}/bench_servers", f"--sync={self.sync}", *options])

    def proxy(self, port, delay_us):
        return Talker("proxy", [f"{self.programs}/bench_servers", f"--proxy={port}", f"--delay-us={delay_us}"])

    def worker(self, kind, address, *settings):
        if kind in OURS:
            command = [f"{self.programs}/bench_worker", kind, address, *settings]
        else:
            command = {
                "curator": ["java", "-cp", f"{self.peers}/curator/*", "CuratorWorker", address],
                "forelock-java": ["java", "-cp", f"{self.peers}/curator/*:{self.peers}/java/*:{self.peers}/java",
                                  "ForelockWorker", address],
                "go-zookeeper": [f"{self.peers}/go-worker", "zk", address],
                "etcd": [f"{self.peers}/go-worker", "etcd", address],
                "redis": [f"{self.peers}/go-worker", "redis", address],
                "kazoo": ["/usr/bin/python3", str(PEERS / "kazoo_worker.py"), address],
            }[kind]
        return Talker(kind, command)

    @contextlib.contextmanager
    def workers(self, addresses):
        """{kind: address} as {kind: worker}, ended together."""
        with contextlib.ExitStack() as stack:
            yield {kind: stack.enter_context(self.worker(kind, address)) for kind, address in addresses.items()}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def stores():
    """etcd and Redis, which wait for the disk as ZooKeeper does: {kind: port}."""
    ports = {"etcd": free_port(), "redis": free_port()}
    client, peer = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{free_port()}"
    with tempfile.TemporaryDirectory() as directory:
        commands = [
            ["etcd", f"--data-dir={directory}/etcd", f"--listen-client-urls={client}",
             f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
             f"--initial-cluster=default={peer}"],
            ["redis-server", "--port", str(ports["redis"]), "--bind", "127.0.0.1", "--dir", directory, "--appendonly",
             "yes", "--appendfsync", "always"]]
        running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
                   for command in commands]
        try:
            yield ports
        finally:
            for process in running:
                process.terminate()
                process.wait()
