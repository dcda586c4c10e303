"""Several ZooKeeper servers for one test: an ensemble, or servers that know nothing of each other."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import threading

import support

JAR = os.environ.get("FORELOCK_ZOOKEEPER_JAR", "/usr/share/java/zookeeper.jar")
LOG = "/usr/share/java/slf4j-simple.jar"
# For ports with TLS; the server's package does not name it.
NETTY = "/usr/share/java/netty-codec.jar"
PATIENCE = 300  # they start in some seconds; on a machine that is very busy besides, in some minutes
# Ports from here on may be taken for the near end of any connection.
with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as port_range:
    FIRST_EPHEMERAL = max(11000, int(port_range.read().split()[0]))


def free_ports(count, addresses):
    """Ports that are free now at each of the addresses."""
    ports = []
    sockets = []
    while len(ports) < count:
        port = random.randrange(10000, FIRST_EPHEMERAL)
        try:
            with_first = socket.create_server((addresses[0], port))
        except OSError:
            continue
        sockets.append(with_first)
        try:
            sockets += [socket.create_server((address, port)) for address in addresses[1:]]
        except OSError:
            continue
        ports.append(port)
    for each in sockets:
        each.close()
    return ports


class Relay:
    """
    Passes bytes on to a port of this machine, from its own `port`, while they flow. Else the two ends hear nothing of
    each other, and not that the other one has gone.
    """

    def __init__(self, to):
        self.to = to
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.flows = threading.Event()  # of the connections that begin now
        self.flows.set()
        self.silent = []
        self.sides = [self.listener]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near = self.listener.accept()[0]
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                near.close()  # nobody listens there yet
                continue
            self.sides += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(one, other, self.flows), daemon=True).start()

    def pass_on(self, one, other, flows):
        with contextlib.suppress(OSError):
            while got := one.recv(65536):
                flows.wait()
                other.sendall(got)
            flows.wait()
        for side in (one, other):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def silence(self):
        """The connections that there are flow never again; later ones do."""
        self.flows.clear()
        self.silent.append(self.flows)
        self.flows = threading.Event()
        self.flows.set()

    def close(self):
        for flows in (*self.silent, self.flows):
            flows.set()
        for side in self.sides:
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
            side.close()


class ZooKeepers:
    """
    Three servers at 127.0.0.1; `addresses`: at these, with one client port; `secure`: lines for those that have a port
    for TLS as well, of `secure_ports`; `relayed`: the first server follows the others through `relays`, by number.
    """

    def __init__(self, test, name="zookeeper", ensemble=True, addresses=None, options=(), observers=0, count=3,
                 properties=(), secure=(), relayed=False, first_sessions=True):
        self.hosts = addresses or ["127.0.0.1"] * count
        if addresses:
            self.ports = free_ports(1, addresses) * count
        else:
            self.ports = free_ports(count, self.hosts[:1])
        peers = free_ports(3 * count, ["127.0.0.1"])
        self.secure_ports = peers[2 * count:] if secure else []
        self.relays = {i: Relay(peers[2 * i]) for i in range(1, count)} if relayed else {}
        for relay in self.relays.values():
            test.addCleanup(relay.close)

        def member(of, i):
            port = self.relays[i].port if of == 0 and i in self.relays else peers[2 * i]
            kind = "observer" if i >= count - observers else "participant"
            return f"server.{i}=127.0.0.1:{port}:{peers[2 * i + 1]}:{kind}"

        self.processes = []
        self.commands = []  # and where their output goes
        test.addCleanup(self.end)
        java = os.path.join(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else "java"
        for i, (host, port) in enumerate(zip(self.hosts, self.ports)):
            directory = test.path(f"{name}{i}")
            os.makedirs(directory + "/data")
            with open(directory + "/data/myid", "w", encoding="ascii") as file:
                file.write(str(i))
            lines = [f"dataDir={directory}/data", f"clientPort={port}", f"clientPortAddress={host}", "tickTime=500",
                     "initLimit=40", "syncLimit=20", "maxClientCnxns=0", "admin.enableServer=false",
                     "4lw.commands.whitelist=*", *options]
            if secure:
                lines += [f"secureClientPort={self.secure_ports[i]}", f"secureClientPortAddress={host}", *secure]
            lines += [member(i, other) for other in range(count)] if ensemble else []
            lines += ["peerType=observer"] if ensemble and i >= count - observers else []
            with open(directory + "/zoo.cfg", "w", encoding="ascii") as file:
                file.write("\n".join(lines) + "\n")
            self.commands.append((directory + "/log", [
                java, "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no",
                "-Dzookeeper.admin.enableServer=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp",
                f"{JAR}:{LOG}:{NETTY}", *("-D" + each for each in properties),
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", directory + "/zoo.cfg"]))
            self.processes.append(self.launch(i))
        for i in range(count):
            support.wait_until(lambda i=i: self.mode(i), f"server {i} serves", PATIENCE)
        for i in range(count if first_sessions else 0):  # a JVM that has just been started takes its time for them
            test.run_cli("ls", "--zookeeper", self.address(i), server=False)

    def launch(self, i):
        file, command = self.commands[i]
        with open(file, "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def restart(self, *indices):
        """All of them are dead before the first one starts again."""
        for i in indices:
            self.kill(i)
        for i in indices:
            self.processes[i] = self.launch(i)
        for i in indices:
            support.wait_until(lambda i=i: self.mode(i), f"server {i} serves again", PATIENCE)

    def address(self, i):
        return f"{self.hosts[i]}:{self.ports[i]}"

    def addresses(self):
        return ",".join(self.address(i) for i in range(len(self.hosts)))

    def ask(self, i, word):
        """The server's answer to four letters; empty while it does not serve."""
        try:
            with socket.create_connection((self.hosts[i], self.ports[i]), timeout=2) as connection:
                connection.sendall(word)
                return b"".join(iter(lambda: connection.recv(4096), b"")).decode()
        except OSError:
            return ""

    def mode(self, i):
        """What the server says it is; nothing while it does not serve."""
        return next((line[6:] for line in self.ask(i, b"srvr").splitlines() if line.startswith("Mode: ")), None)

    def of_mode(self, mode):
        return next(i for i in range(len(self.hosts)) if self.mode(i) == mode)

    def kill(self, i):
        self.processes[i].kill()
        self.processes[i].wait()

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
