"""Enough of a Hub on loopback to read from and to push to: files, their listing, commits."""

from __future__ import annotations

import base64
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


_PUSH = re.compile(r"^/api/(datasets|spaces)/([^/]+/[^/]+)/(preupload|commit)/([^/?]+)")
_LFS = re.compile(r"^/(datasets|spaces)/([^/]+/[^/]+)\.git/info/lfs/objects/batch$")


@contextmanager
def serving(repositories: dict[str, Path], new: Path | None = None) -> Iterator[str]:
    """Serve folders as repositories.

    Args:
        repositories: `datasets/owner/name` or `spaces/owner/name` → folder; repositories that are
            created are added.
        new: where those get their folders; they go by the token `hf_test`.

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
            data = self.rfile.read(int(self.headers["Content-Length"]))
            path = unquote(urlsplit(self.path).path)
            if path == "/api/validate-yaml":
                self.send_json({"errors": [], "warnings": []})
            elif path == "/api/repos/create":
                self.create(json.loads(data))
            elif match := _PUSH.match(path):
                folder = repositories.get(f"{match[1]}/{match[2]}")
                if folder is None or not self.may_write():
                    self.missing("RepoNotFound")
                elif match[3] == "preupload":
                    listed = json.loads(data)["files"]
                    self.send_json({"files": [preupload(file) for file in listed]})
                else:
                    self.commit(folder, match, data)
            elif _LFS.match(path):
                self.send_json({"transfer": "basic", "objects": self.uploads(json.loads(data))})
            else:
                self.paths_info(json.loads(data or b"{}"))

        def may_write(self) -> bool:
            return self.headers.get("Authorization") == "Bearer hf_test"

        def create(self, asked: dict[str, str]) -> None:
            name = asked["name"]
            if asked.get("organization"):
                name = f"{asked['organization']}/{name}"
            if not self.may_write() or new is None:
                self.send_json({"error": "Invalid username or password."}, 401)
                return
            folder = new / asked["type"] / name
            code = 409 if f"{asked['type']}s/{name}" in repositories else 200
            if code == 200:
                folder.mkdir(parents=True)
                repositories[f"{asked['type']}s/{name}"] = folder
            url = f"{self.endpoint()}/{asked['type']}s/{name}"
            self.send_json({"url": url, "id": name, "name": name}, code)

        def uploads(self, asked: dict[str, object]) -> list[dict[str, object]]:
            href = f"{self.endpoint()}/lfs/"
            return [
                {**one, "actions": {"upload": {"href": href + one["oid"]}}}
                for one in asked["objects"]
            ]

        def do_PUT(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            oid = self.path.rsplit("/", 1)[1]
            if hashlib.sha256(data).hexdigest() == oid:
                stored[oid] = data
                self.send(200, b"", "text/plain", True)
            else:
                self.send_json({"error": "checksum"}, 400)

        def commit(self, folder: Path, match: re.Match[str], data: bytes) -> None:
            pull_request = "create_pr=1" in self.path
            for line in data.splitlines():
                operation = json.loads(line)
                value = operation["value"]
                if operation["key"] == "file" and not pull_request:
                    put(folder / value["path"], base64.b64decode(value["content"]))
                elif operation["key"] == "lfsFile" and not pull_request:
                    put(folder / value["path"], stored[value["oid"]])
            address = f"{self.endpoint()}/{match[1]}/{match[2]}"
            answer = {"success": True, "commitOid": COMMIT, "commitUrl": f"{address}/commit/x"}
            if pull_request:
                answer["pullRequestUrl"] = f"{address}/discussions/1"
            self.send_json(answer)

        def endpoint(self) -> str:
            return f"http://127.0.0.1:{server.server_port}"

        def paths_info(self, asked: dict[str, list[str]]) -> None:
            match = _API.match(self.path)
            folder = match and repositories.get(f"{match[1]}/{match[2]}")
            if not folder:
                self.missing("RepoNotFound")
                return
            wanted = asked.get("paths", [])
            self.send_json([entry for entry in files(folder) if entry["path"] in wanted])

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

        def send_json(self, value: object, status: int = 200) -> None:
            self.send(status, json.dumps(value).encode(), "application/json", True)

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

    stored: dict[str, bytes] = {}  # what was uploaded apart from its commit
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def preupload(file: dict[str, object]) -> dict[str, object]:
    """Say how a file is to be sent, as the Hub does: binary ones apart from the commit."""
    apart = str(file["path"]).endswith((".parquet", ".whl"))
    mode = "lfs" if apart else "regular"
    return {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": None}


def put(path: Path, data: bytes) -> None:
    """Write a file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


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
