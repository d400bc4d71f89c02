"""Enough of a Hub on loopback to read from: files, their listing, and one commit."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0" * 39 + "1"
_FILE = re.compile(r"^/(datasets|spaces)/([^/]+/[^/]+)/resolve/([^/]+)/(.+)$")
_API = re.compile(
    r"^/api/(datasets|spaces)/([^/]+/[^/]+?)(/revision/[^/]+|/tree/.*|/paths-info/.*)?$"
)


@contextmanager
def serving(repositories: dict[str, Path]) -> Iterator[str]:
    """Serve folders as repositories.

    Args:
        repositories: `datasets/owner/name` or `spaces/owner/name` → folder.

    Yields:
        The endpoint, for HF_ENDPOINT.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            match = _API.match(self.path)
            folder = match and repositories.get(f"{match[1]}/{match[2]}")
            if not folder:
                self.missing("RepoNotFound")
                return
            wanted = asked.get("paths", [])
            listed = [entry for entry in files(folder) if entry["path"] in wanted]
            self.send(200, json.dumps(listed).encode(), "application/json", True)

        def answer(self, body: bool) -> None:
            path = unquote(urlsplit(self.path).path)
            if match := _FILE.match(path):
                folder = repositories.get(f"{match[1]}/{match[2]}")
                if folder is None or match[3] not in ("main", COMMIT):
                    self.missing("RepoNotFound" if folder is None else "RevisionNotFound")
                elif not (folder / match[4]).is_file():
                    self.missing("EntryNotFound")
                else:
                    self.send_file((folder / match[4]).read_bytes(), body)
            elif match := _API.match(path):
                self.api(match, body)
            else:
                self.missing("EntryNotFound")

        def api(self, match: re.Match[str], body: bool) -> None:
            folder, rest = repositories.get(f"{match[1]}/{match[2]}"), match[3] or ""
            revision = rest.split("/")[2] if rest else "main"
            if folder is None or revision not in ("main", COMMIT):
                self.missing("RepoNotFound" if folder is None else "RevisionNotFound")
                return
            found: object = {
                "id": match[2],
                "sha": COMMIT,
                "private": False,
                "gated": False,
                "disabled": False,
                "tags": [],
                "downloads": 0,
                "likes": 0,
                "lastModified": "2026-01-01T00:00:00.000Z",
                "siblings": [{"rfilename": entry["path"]} for entry in files(folder)],
            }
            if rest.startswith("/tree/"):
                below = "/".join(rest.split("/")[3:])
                found = [e for e in files(folder) if e["path"].startswith(below)]
            self.send(200, json.dumps(found).encode(), "application/json", body)

        def send_file(self, data: bytes, body: bool) -> None:
            status, extra = 200, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"'}
            if span := re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
                start, end = int(span[1]), min(int(span[2] or len(data) - 1), len(data) - 1)
                extra["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
                status, data = 206, data[start : end + 1]
            self.send(status, data, "application/octet-stream", body, extra)

        def missing(self, code: str) -> None:
            self.send(404, b"{}", "application/json", True, {"X-Error-Code": code})

        def send(
            self,
            status: int,
            data: bytes,
            kind: str,
            body: bool,
            extra: dict[str, str] | None = None,
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("X-Repo-Commit", COMMIT)
            for name, value in (extra or {}).items():
                self.send_header(name, value)
            self.end_headers()
            if body and self.command != "HEAD":
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def files(folder: Path) -> list[dict[str, object]]:
    """List a folder as the Hub's tree does."""
    return [
        {
            "type": "file",
            "path": path.relative_to(folder).as_posix(),
            "size": path.stat().st_size,
            "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
