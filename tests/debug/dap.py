# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of the Debug Adapter Protocol: one request after the other."""
import json
import subprocess


class Client:
    def __init__(self, command, env):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env=env)
        self.sequence = 0
        self.events = []

    def read(self):
        length = None
        while True:
            line = self.process.stdout.readline().strip()
            if not line and length is not None:
                return json.loads(self.process.stdout.read(length))
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)

    def send(self, command, **arguments):
        self.sequence += 1
        text = json.dumps({"seq": self.sequence, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()
        return self.sequence

    def response(self, number):
        """Events before it are kept."""
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == number:
                return message
            self.events.append(message)

    def ask(self, command, **arguments):
        return self.response(self.send(command, **arguments))

    def body(self, command, **arguments):
        return self.ask(command, **arguments).get("body")

    def event(self, name):
        """The next one of that name; others before it go."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            if message["type"] == "event" and message["event"] == name:
                return message.get("body")

    def way(self, command, **arguments):
        """Goes, and says where it stands."""
        self.ask(command, **arguments)
        return self.event("stopped")

    def end(self):
        self.ask("disconnect")
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait()
