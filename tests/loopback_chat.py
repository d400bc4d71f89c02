"""A server on loopback that speaks the chat protocol of OpenAI; it plays the model."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BUSY_FOR = 0.05


@dataclass
class Seen:
    """What the server was asked.

    Attributes:
        url: address of the API.
        bodies: the requests, refused ones included.
        refused: how many were refused for the time being.
        at_once: most requests that were open at one time.
    """

    url: str = ""
    bodies: list[dict] = field(default_factory=list)
    refused: int = 0
    at_once: int = 0


@contextmanager
def chatting(answer: Callable[[str], str | None], refuse_first: int = 0) -> Iterator[Seen]:
    """Serve a model.

    Args:
        answer: scenario → what is said of it.
        refuse_first: how many requests to refuse at first, as an overloaded server does.
    """
    seen, lock, running = Seen(), threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                running[0] += 1
                seen.bodies.append(body)
                seen.at_once = max(seen.at_once, running[0])
                refused = seen.refused < refuse_first
                seen.refused += refused
            time.sleep(BUSY_FOR)
            with lock:
                running[0] -= 1
            if self.path != "/v1/chat/completions":
                self.reply(404, {"error": {"message": f"no {self.path}"}})
            elif refused:
                self.reply(429, {"error": {"message": "overloaded", "type": "rate_limit"}})
            else:
                text = str(body["messages"][-1]["content"])
                scenario = re.findall(r"Scenario: (\S+)", text)[-1]
                self.reply(200, completion(answer(scenario)))

        def reply(self, status, content):
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if status == 429:
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    seen.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(text: str | None) -> dict:
    """Give one completion as the protocol has it."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
