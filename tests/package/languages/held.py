"""Takes a lock, and opens a dead-letter queue, with whatever package this Python has: held.py FOLDER [SETTINGS-FILE]"""

import importlib.metadata
import os
import sys

import forelock

if sys.argv[2:]:
    opened = forelock.Client(sys.argv[2])
else:
    opened = forelock.Client(zookeeper_servers=os.environ["FORELOCK_ZOOKEEPER"])
with opened as client, forelock.lock(client, "P1", lock_info="held.py") as held:
    print("held P1 with token", held.fencing_token)
with forelock.DeadLetterQueue(dlq_outbox_path=os.path.join(sys.argv[1], "python.db")):
    print("a queue of", importlib.metadata.version("forelock"))
