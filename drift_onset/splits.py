"""The data files of the benchmark, as schema.json lists them."""

from __future__ import annotations

from dataclasses import dataclass

from drift_onset import schema


@dataclass(frozen=True)
class Split:
    """A data file of the repository: its name, path, kind of record and identifiers."""

    name: str
    file: str
    record: str
    ids: tuple[str, ...]

    @property
    def parquet(self) -> str:
        """Path of the typed Parquet file that is built from it."""
        return self.file.removesuffix(".csv") + ".parquet"


def splits() -> list[Split]:
    """Give the data files in order, as schema.json lists them."""
    listed = dict(schema.document()["x-splits"])
    id_format = listed.pop("id_format")
    return [
        Split(
            name,
            entry["file"],
            entry["record"],
            tuple(id_format % number for number in range(entry["first"], entry["last"] + 1)),
        )
        for name, entry in listed.items()
    ]
