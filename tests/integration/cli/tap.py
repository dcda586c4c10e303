"""A line to a server that can be cut where a test wants it."""

import contextlib
import queue
import socket
import struct
import threading
import time

# The types of requests in ZooKeeper's protocol.
GET_DATA = 4
SET_DATA = 5
LISTING = 12  # with what is known of the node
TRANSACTION = 14
# What an action says.
DROP = "drop"


class Tap:
    """Listens at `address`, and passes on what comes and goes. Its rules hold for one connection, which they cut."""

    def __init__(self, server):
        host, port = server.rsplit(":", 1)
        self.server = (host, int(port))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.request = None
        self.about = b""
        self.bytes_left = None
        self.was_cut = False
        self.passed = 0  # bytes that the server has sent
        self.refuses = False
        self.delay = 0  # seconds by which each frame comes later, in each direction
        self.never = threading.Event()
        self.action = None
        self.acted = threading.Event()  # and the request has been passed on
        threading.Thread(target=self.accept, daemon=True).start()

    def cut_after_request(self, kind, for_good=False, about=b""):
        """The server gets the first request of this kind that has these bytes, and its client no reply; for_good: no
        later line."""
        self.about = about
        self.request = kind
        self.refuses = for_good

    def before_request(self, kind, action, about=b""):
        """Does it when the first request of this kind comes by that has these bytes, before the server gets that. If
        it says DROP the server gets nothing of this line any more."""
        self.action = (kind, action, about)

    def cut_after_bytes(self, count):
        """Of what the server sends."""
        self.was_cut = False
        self.bytes_left = count

    def wait(self):
        """As long as a frame is under way."""
        self.never.wait(self.delay)

    def close(self):
        self.listener.close()

    def accept(self):
        first = True
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.refuses and not first:
                client.close()
                continue
            first = False
            line = Line(self, client, socket.create_connection(self.server))
            threading.Thread(target=line.serve, daemon=True).start()


class Line:
    """One connection."""

    def __init__(self, tap, client, server):
        self.tap = tap
        self.client = client
        self.server = server
        self.awaited = None  # the number of the request whose reply is not passed on

    def serve(self):
        with self.client, self.server:
            replies = threading.Thread(target=self.replies, daemon=True)
            replies.start()
            self.requests()
            replies.join()

    def end(self):
        for side in (self.client, self.server):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def requests(self):
        first = True  # asks for a session
        acted = False
        for due, frame in self.on_the_way(frames(self.client)):
            if not first and len(frame) >= 12:
                number, kind = struct.unpack(">ii", frame[4:12])
                if kind == self.tap.request and self.tap.about in frame:
                    self.tap.request = None
                    self.awaited = number
                if self.tap.action and self.tap.action[0] == kind and self.tap.action[2] in frame:
                    action, self.tap.action = self.tap.action[1], None
                    acted = True
                    if action() == DROP:
                        break
            first = False
            self.tap.never.wait(max(0, due - time.monotonic()))
            with contextlib.suppress(OSError):
                self.server.sendall(frame)
            if acted:
                self.tap.acted.set()
                acted = False
        self.end()

    def replies(self):
        for frame in frames(self.server):
            if self.awaited is not None and len(frame) >= 8 and struct.unpack(">i", frame[4:8])[0] == self.awaited:
                self.tap.was_cut = True
                break
            self.tap.passed += len(frame)
            if self.tap.bytes_left is not None:
                self.tap.bytes_left -= len(frame)
                if self.tap.bytes_left < 0:
                    self.tap.bytes_left = None
                    self.tap.was_cut = True
                    break
            self.tap.wait()
            try:
                self.client.sendall(frame)
            except OSError:
                return  # it has gone; what it has sent is on its way still
        self.end()

    def on_the_way(self, sent):
        """Frames with the time at which they arrive. They have left their sender: its end does not take them back."""
        line = queue.SimpleQueue()

        def leave():
            for frame in sent:
                line.put((time.monotonic() + self.tap.delay, frame))
            line.put(None)

        threading.Thread(target=leave, daemon=True).start()
        return iter(line.get, None)


def frames(side):
    """What comes, in ZooKeeper's frames: four bytes of length, and so many bytes."""
    kept = b""
    while True:
        while len(kept) < 4 or len(kept) < 4 + struct.unpack(">i", kept[:4])[0]:
            try:
                got = side.recv(65536)
            except OSError:
                return
            if not got:
                return
            kept += got
        end = 4 + struct.unpack(">i", kept[:4])[0]
        yield kept[:end]
        kept = kept[end:]
