#!/usr/bin/env python3
"""Describes the contents of the Python wheel: wheel-contents.py LICENCES SBOM.

The folder LICENCES gets the licences of all components. The texts come from the sources that cargo unpacked. A crate
without a text is listed with the name of its licence. The file SBOM gets the list of components (CycloneDX 1.5).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The version that the feature `v2` chooses (Cargo.toml).
MIMALLOC = "c_src/mimalloc/v2"
PACKAGES = ("evenhand-python", "evenhand", "evenhand-check")


def main() -> None:
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copy(ROOT / "bindings/python/GMP.md", folder / "GMP.md")
    crates = linked()
    gmp = next(crate for crate in crates if crate["name"] == "gmp-mpfr-sys")
    sources = Path(gmp["manifest_path"]).parent
    for name, of in (("COPYING.LESSERv3", "LGPL-3.0.txt"), ("COPYINGv3", "GPL-3.0.txt")):
        shutil.copy(next(sources.glob(f"gmp-*/{name}")), folder / of)
    (folder / "THIRD-PARTY.txt").write_text(third_party(crates), encoding="utf-8")
    Path(sys.argv[2]).write_text(json.dumps(components(crates), indent=2) + "\n", encoding="utf-8")


def linked() -> list:
    """Returns the third-party crates that are linked into the wheel, without the crates that are needed only for builds or tests."""
    which = [argument for name in PACKAGES for argument in ("-p", name)]
    form = ["-e", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]
    lines = cargo("tree", *which, *form).splitlines()
    names = {tuple(line.split()[:2]) for line in lines if line}
    packages = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", host()))["packages"]
    others = [package for package in packages if package["source"] is not None]
    found = [package for package in others if (package["name"], "v" + package["version"]) in names]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def cargo(*arguments: str) -> str:
    command = ["cargo", arguments[0], "--locked", *arguments[1:]]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def host() -> str:
    lines = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return next(line.split()[1] for line in lines if line.startswith("host:"))


def components(crates: list) -> dict:
    """Returns the list of components: the crates, and the C and C++ libraries that crates contain."""
    version = next(line.split('"')[1] for line in (ROOT / "Cargo.toml").read_text().splitlines() if line.startswith("version"))
    listed = [
        {
            "type": "library",
            "bom-ref": f"pkg:cargo/{crate['name']}@{crate['version']}",
            "name": crate["name"],
            "version": crate["version"],
            "purl": f"pkg:cargo/{crate['name']}@{crate['version']}",
            "licenses": [{"expression": (crate["license"] or "NOASSERTION").replace("/", " OR ").replace("3.0+", "3.0-or-later")}],
        }
        for crate in crates
    ]
    for crate in crates:
        sources = Path(crate["manifest_path"]).parent
        if crate["name"] == "gmp-mpfr-sys":
            gmp = next(sources.glob("gmp-*")).name.split("-")[1]
            listed.append(native("gmp", gmp, "LGPL-3.0-or-later OR GPL-2.0-or-later", "https://gmplib.org"))
        if crate["name"] == "highs-sys":
            listed.append(native("highs", highs_version(sources / "HiGHS"), "MIT", "https://highs.dev"))
        if crate["name"] == "libmimalloc-sys":
            version_of = mimalloc_version(sources / MIMALLOC)
            listed.append(native("mimalloc", version_of, "MIT", "https://github.com/microsoft/mimalloc"))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": f"pkg:pypi/evenhand@{version}",
                "name": "evenhand",
                "version": version,
                "purl": f"pkg:pypi/evenhand@{version}",
                "licenses": [{"expression": "(MIT OR Apache-2.0) AND LGPL-3.0-or-later"}],
            }
        },
        "components": sorted(listed, key=lambda each: each["bom-ref"]),
    }


def native(name: str, version: str, licence: str, home: str) -> dict:
    purl = f"pkg:generic/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"expression": licence}],
        "externalReferences": [{"type": "website", "url": home}],
    }


def highs_version(sources: Path) -> str:
    lines = (sources / "Version.txt").read_text(encoding="utf-8").splitlines()
    numbers = dict(line.split("=") for line in lines if "=" in line)
    return ".".join(numbers[f"HIGHS_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))


def mimalloc_version(sources: Path) -> str:
    lines = (sources / "include/mimalloc.h").read_text(encoding="utf-8").splitlines()
    # The major version, then two digits each for the minor version and the patch.
    number = next(int(line.split()[2]) for line in lines if line.startswith("#define MI_MALLOC_VERSION"))
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def third_party(crates: list) -> str:
    parts = ["Third-party components of this package, each with its licence.\n"]
    known = {}
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        parts.append(f"{name}: {crate['license'] or crate['license_file']}; {crate['repository'] or ''}")
        sources = Path(crate["manifest_path"]).parent
        files = sorted(path for path in sources.iterdir() if path.is_file() and is_licence(path.name))
        if crate["name"] == "highs-sys":
            files.append(sources / "HiGHS/LICENSE.txt")
            notices = sources / "HiGHS/THIRD_PARTY_NOTICES.md"
            files.extend([notices] if notices.exists() else [])
        if crate["name"] == "libmimalloc-sys":
            files.append(sources / MIMALLOC / "LICENSE")
        for path in files:
            known.setdefault(path.read_text(encoding="utf-8", errors="replace").strip(), []).append(name)
    for text, names in known.items():
        parts.append(f"\n{'=' * 100}\n{', '.join(dict.fromkeys(names))}\n{'=' * 100}\n\n{text}")
    return "\n".join(parts) + "\n"


def is_licence(name: str) -> bool:
    return name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE"))


main()
