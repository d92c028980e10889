# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium without a screen, told what to do over a pipe (its DevTools protocol: messages
of JSON that end with a zero byte, on descriptors 3 and 4)."""
import json
import os
import shutil
import subprocess


class Navigated(Exception):
    """The page is another one now, in the middle of a question."""


class Browser:
    """One page in it; a context that ends it."""

    def __init__(self, folder):
        to_it, self.to = os.pipe()
        self.back, from_it = os.pipe()

        def place():  # in the child; neither pair may lie where the other goes
            high = [os.dup(to_it), os.dup(from_it)]
            while min(high) < 5:
                high = [os.dup(fd) for fd in high]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        self.process = subprocess.Popen(
            [shutil.which("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + os.path.join(folder, "chromium"), "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_it)
        os.close(from_it)
        self.rest, self.number, self.events = b"", 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.do(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)

    def read(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.back, 1 << 16)
            assert chunk, "the browser has ended"
            self.rest += chunk
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while (got := self.read()).get("id") != self.number:
            self.events.append(got)
        if "navigated" in got.get("error", {}).get("message", ""):
            raise Navigated
        assert "error" not in got, (method, got)
        return got["result"]

    def do(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def open(self, url):
        self.do("Page.navigate", url=url)

    def value(self, expression):
        """Of JavaScript; a promise is waited for."""
        got = self.do("Runtime.evaluate", expression=expression, awaitPromise=True,
                      returnByValue=True)
        assert "exceptionDetails" not in got, got["exceptionDetails"]
        return got["result"].get("value")

    def until(self, condition, seconds=100):
        """Waits in the page until that is true, also of one that comes in its place."""
        question = (
            "new Promise(done => { const end = performance.now() + %d; const look = () => {"
            "let is = false; try { is = !!(%s); } catch (e) { is = false; }"
            "if (is || performance.now() > end) done(is); else setTimeout(look, 20); };"
            "look(); })" % (1000 * seconds, condition))
        while True:
            try:
                assert self.value(question), condition
                return
            except Navigated:
                pass

    def width(self, pixels):
        self.do("Emulation.setDeviceMetricsOverride", width=pixels, height=900,
                deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.do("Emulation.setEmulatedMedia",
                features=[{"name": "prefers-color-scheme", "value": name}])

    def errors(self):
        """What went wrong in pages."""
        return [event for event in self.events
                if event["method"] == "Runtime.exceptionThrown" or
                (event["method"] == "Log.entryAdded" and
                 event["params"]["entry"]["level"] == "error")]
