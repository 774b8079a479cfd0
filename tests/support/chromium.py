"""A headless Chromium, driven over a pipe by the DevTools protocol, under trio."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

_PATIENCE = 60.0  # seconds for anything to become true, on a machine that has much to do

# Chromium reads commands from descriptor 3 and writes answers to 4.
_START = "import os,sys; os.dup2({0},3); os.dup2({1},4); os.execvp(sys.argv[1], sys.argv[1:])"

_KEYS: dict[str, tuple[str, int]] = {
    "Enter": ("\r", 13),
    "Tab": ("", 9),
    "Escape": ("", 27),
    " ": (" ", 32),
    "ArrowLeft": ("", 37),
    "ArrowRight": ("", 39),
    "ArrowDown": ("", 40),
    "Home": ("", 36),
    "End": ("", 35),
}


class PageError(AssertionError):
    """The page, or the browser, says that something went wrong."""


class Browser:
    """One running browser. Commands are answered; events go to the page that they are of."""

    def __init__(self, commands: trio.lowlevel.FdStream, answers: trio.lowlevel.FdStream) -> None:
        self._commands, self._answers = commands, answers
        self._waiting: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._pages: dict[str, Page] = {}
        self._last = 0

    async def run(self) -> None:
        """Read what the browser says, until it ends."""
        rest = b""
        while data := await self._answers.receive_some(1 << 20):
            *messages, rest = (rest + data).split(b"\0")
            for message in map(json.loads, messages):
                if message.get("id") in self._waiting:
                    self._waiting.pop(message["id"])(message)
                elif (page := self._pages.get(message.get("sessionId", ""))) is not None:
                    page.happened(message["method"], message["params"])

    async def call(self, method: str, session: str = "", **params: Any) -> Any:
        """Send a command, and return its result. Raises PageError."""
        self._last += 1
        number, done, found = self._last, trio.Event(), []

        def take(message: dict[str, Any]) -> None:
            found.append(message)
            done.set()

        self._waiting[number] = take
        said = {"id": number, "method": method, "params": params}
        await self._commands.send_all(
            json.dumps(said | ({"sessionId": session} if session else {})).encode() + b"\0"
        )
        with trio.fail_after(_PATIENCE):
            await done.wait()
        if "error" in found[0]:
            raise PageError(f"{method}: {found[0]['error']['message']}")
        return found[0]["result"]

    async def new_page(self, width: int = 1280, height: int = 800, **features: str) -> Page:
        """An empty page that keeps nothing of other pages. features: as prefers_color_scheme."""
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        target = await self.call("Target.createTarget", url="about:blank", browserContextId=context)
        attached = await self.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        page = Page(self, attached["sessionId"])
        self._pages[attached["sessionId"]] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            await page.call(f"{domain}.enable")
        await page.resize(width, height)
        await page.prefer(**features)
        return page


class Page:
    """One page of the browser.

    problems: all that was said on the console above "info", exceptions that nobody caught, and
    violations of the content security policy, in words.
    """

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session
        self.problems: list[str] = []

    async def call(self, method: str, **params: Any) -> Any:
        """Send a command for this page."""
        return await self._browser.call(method, self._session, **params)

    def happened(self, method: str, params: dict[str, Any]) -> None:
        """Take an event."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.problems.append(f"exception: {text}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.problems.append(f"console: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.problems.append(f"{entry['source']}: {entry['text']} {entry.get('url', '')}")

    async def resize(self, width: int, height: int) -> None:
        """Set the size of what is seen, in CSS pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def prefer(self, **features: str) -> None:
        """Set media features, as prefers_color_scheme="dark"."""
        given = [
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()
        ]
        await self.call("Emulation.setEmulatedMedia", features=given)

    async def open(self, url: str) -> None:
        """Go to an address; one that differs in what is behind the # alone is no new load."""
        await self.call("Page.navigate", url=url)

    async def value(self, script: str) -> Any:
        """What a JavaScript expression comes to; a promise is waited for. Raises PageError."""
        done = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in done:
            raise PageError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait until an expression is true of the page, and return what it comes to.

        An element that is there is true.
        """
        script = f"(async () => (v => v instanceof Node ? true : v)(await ({script})))()"
        with trio.move_on_after(_PATIENCE):
            while True:
                try:
                    if found := await self.value(script):
                        return found
                except PageError:
                    pass  # the page is being loaded
                await trio.sleep(0.03)
        seen = await self.value("document.body.innerText.slice(0, 4000)")
        raise PageError(f"never true: {script}\nproblems: {self.problems}\nthe page:\n{seen}")

    async def click(self, selector: str) -> None:
        """Click with the mouse in the middle of an element, wherever it must be scrolled to."""
        where = await self.until(
            f"""(() => {{
              const found = document.querySelector({json.dumps(selector)});
              if (!found) return null;
              found.scrollIntoView({{block: "center", behavior: "instant"}});
              const box = found.getBoundingClientRect();
              return box.width && {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
            }})()"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **where
            )

    async def press(self, key: str, *, ctrl: bool = False, shift: bool = False) -> None:
        """Press a key, named as in KeyboardEvent.key, and let go of it."""
        text, code = _KEYS[key]
        modifiers = (2 if ctrl else 0) | (8 if shift else 0)
        said = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        sent = {"text": text} if text and not ctrl else {}
        kind = "keyDown" if sent else "rawKeyDown"
        await self.call("Input.dispatchKeyEvent", type=kind, **said, **sent)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **said)

    async def type(self, text: str) -> None:
        """Write into what has the focus."""
        await self.call("Input.insertText", text=text)

    async def screenshot(self, file: Path) -> None:
        """Write what is seen into a PNG file."""
        shot = await self.call("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(shot["data"]))


def program() -> str:
    """The browser's program: Debian's is called chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if (found := shutil.which(name)) is not None:
            return found
    raise FileNotFoundError("there is no Chromium; in Debian: apt-get install chromium")


@asynccontextmanager
async def browsing(folder: Path) -> AsyncIterator[Browser]:
    """Run a browser whose files are all in that folder."""
    chromium = program()
    ours, theirs = os.pipe(), os.pipe()
    command = [
        sys.executable,
        "-c",
        _START.format(ours[0], theirs[1]),
        chromium,
        "--headless",
        "--remote-debugging-pipe",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        "--hide-scrollbars",
        "--force-color-profile=srgb",
        f"--user-data-dir={folder / 'profile'}",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            command,
            pass_fds=(ours[0], theirs[1]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": str(folder)},
        )
        os.close(ours[0])
        os.close(theirs[1])
        commands, answers = trio.lowlevel.FdStream(ours[1]), trio.lowlevel.FdStream(theirs[0])
        browser = Browser(commands, answers)
        nursery.start_soon(browser.run)
        try:
            yield browser
        finally:
            with trio.CancelScope(shield=True):
                with trio.move_on_after(10):
                    await browser.call("Browser.close")
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                await commands.aclose()
                await answers.aclose()
            nursery.cancel_scope.cancel()
