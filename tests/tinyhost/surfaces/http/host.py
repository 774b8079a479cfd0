"""Runs a host over HTTP until it is told to stop; prints its address and its token's file."""

from __future__ import annotations

import os
import sys

import trio

from tinyhost.config import load_config
from tinyhost.running import RunningHost
from tinyhost.surfaces.http import http_surface
from tinyhost.surfaces.serving import Service, serve


def tell(running: RunningHost) -> None:
    print(running.addresses["http"], running.addresses["httpToken"], flush=True)


if __name__ == "__main__":
    trio.run(
        serve,
        Service(
            read_config=load_config,
            directory=sys.argv[1],
            environ=dict(os.environ),
            surfaces=(http_surface("127.0.0.1:0"),),
            on_ready=tell,
        ),
    )
