"""A holder in a process of its own, to be stopped: holder.py SERVERS MONITOR SESSION-TIMEOUT.

Says its token when it holds; answers a line on stdin with what became of the lock.
"""

import json
import queue
import sys

import forelock


def main():
    lost = queue.SimpleQueue()
    with forelock.Client(zookeeper_servers=sys.argv[1], zookeeper_session_timeout=sys.argv[3]) as client:
        lock = forelock.BlockingLock(client, sys.argv[2], lock_info="stopped")
        lock.on_lost(lost.put)
        print(json.dumps({"token": lock.acquire(60)}), flush=True)
        sys.stdin.readline()
        healthy, expires_in = lock.healthy(), lock.expires_in
        reason = lost.get(timeout=60)
        try:
            lock.release()
            code = "ok"
        except forelock.Error as error:
            code = str(error.code)
        answer = {"healthy": healthy, "expires_in": expires_in, "lost": reason.name, "release": code}
        print(json.dumps(answer), flush=True)


main()
