"""The documentation site: runs every tutorial, generates the references, and builds the pages.

    python docs/site/build.py LNZ OUT

LNZ is the tool, OUT a new folder. The Python that runs this needs the package `lnz` and requirements.txt.
"""

from __future__ import annotations

import contextlib
import html.parser
import inspect
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
# Documents of the repository that are pages of the site, by their new names.
PAGES = (
    "method",
    "calibration",
    "scale",
    "benchmarks",
    "reliability",
    "decisions",
    "architecture",
)

GALLERY = {
    "consistent": "lnz estimate gwgm-hard --no-exact --rounds 4",
    "phases": "lnz estimate mnist-20h --no-exact --rounds 1",
    "tempering": "lnz estimate gwgm-hard --method tempering",
    "suspect": "lnz estimate gwgm-hard --start uniform --transpose",
    "exact": "lnz exact bms-3",
    "compare": "lnz compare mnist-20h",
    "score": "lnz score bars/epoch-200.safetensors --data bars.csv",
    "train": "lnz train --data bars.csv --hidden 8 --epochs 200 --batch 10 --learning-rate 0.2 "
    "--track 10-200/10 --out bars",
}


class Workshop:
    """A folder in which the blocks of a page are run, one after the other."""

    def __init__(self, tool: pathlib.Path, folder: pathlib.Path) -> None:
        self.folder = folder
        # The tool is called `lnz`, whatever its file is called.
        programs = folder.parent / f"{folder.name}-bin"
        programs.mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        link = programs / "lnz"
        if not link.exists():
            link.symlink_to(tool.resolve())
        self.environment = {
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
        }
        self.names: dict[str, object] = {"__name__": "__main__"}

    def run(self, kind: str, code: str) -> str:
        return self.console(code) if kind == "console" else self.python(code)

    def console(self, code: str) -> str:
        """The commands, each followed by what it prints."""
        shown = []
        for command in code.strip().splitlines():
            assert command.startswith("$ "), f"not a command: {command}"
            done = subprocess.run(
                [
                    "bash",
                    "-c",
                    "set -o pipefail; " + command[2:].replace("| head", "2>/dev/null | head"),
                ],
                cwd=self.folder,
                env=self.environment,
                capture_output=True,
                text=True,
            )
            # A reader that has seen enough closes the pipe.
            if done.returncode not in (0, 141):
                raise RuntimeError(f"{command}: exit code {done.returncode}: {done.stderr}")
            shown.append(f"{command}\n{done.stdout}{done.stderr}")
        return "".join(shown)

    def python(self, code: str) -> str:
        """What the program prints; names live on in the next block."""
        printed = io.StringIO()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "<tutorial>", "exec"), self.names)
        finally:
            os.chdir(before)
        return printed.getvalue()


def with_outputs(text: str, workshop: Workshop) -> str:
    """The page with what its blocks print."""

    def complete(block: re.Match[str]) -> str:
        kind, code = block.groups()
        printed = workshop.run(kind, code)
        if kind == "console":
            return f"```console\n{printed}```"
        return f"```python\n{code}```\n" + (f"\n```text\n{printed}```" if printed else "")

    return BLOCK.sub(complete, text)


def commands(tool: pathlib.Path) -> str:
    """The help of every command."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}

    def help_of(*command: str) -> str:
        run = [str(tool), *command, "--help"]
        return subprocess.run(
            run, env=environment, capture_output=True, text=True, check=True
        ).stdout

    def names(text: str) -> list[str]:
        section = re.search(r"\nCommands:\n(.*?)\n\n", text, re.DOTALL)
        found = re.findall(r"^  (\w+)", section.group(1), re.MULTILINE) if section else []
        return [name for name in found if name != "help"]

    whole = help_of()
    parts = ["# Commands\n\nThe help of the program, as it prints it.\n\n```text\n", whole, "```\n"]
    for name in names(whole):
        text = help_of(name)
        parts += [f"\n## lnz {name}\n\n```text\n", text, "```\n"]
        for inner in names(text):
            parts += [f"\n### lnz {name} {inner}\n\n```text\n", help_of(name, inner), "```\n"]
    return "".join(parts)


def json_reference(schema: dict) -> str:
    """The fields of every result, from the schema."""
    parts = [
        "# JSON\n\n",
        "What `--json` prints and `to_dict()` returns. `lnz schema` and `lnz.schema()` have this as a "
        "[JSON Schema](https://json-schema.org/). Fields are always there; where one does not apply it is null.\n",
    ]

    def kind(rule: dict) -> str:
        if "$ref" in rule:
            name = rule["$ref"].rsplit("/", 1)[1]
            return f"[{name}](#{name.replace('_', '-').lower()})"
        if "enum" in rule:
            return ", ".join(f"`{value}`" for value in rule["enum"])
        if "anyOf" in rule:
            return " or ".join(kind(each) for each in rule["anyOf"])
        if "const" in rule:
            return f"`{rule['const']}`"
        kinds = rule.get("type", "any")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "array" in kinds and isinstance(rule.get("items"), dict):
            return f"array of {kind(rule['items'])}"
        return " or ".join(kinds)

    def rows(rule: dict, prefix: str = "") -> list[str]:
        found = []
        for name, field in rule.get("properties", {}).items():
            about = field.get("description", "").replace("|", "\\|")
            found.append(f"| `{prefix}{name}` | {kind(field)} | {about} |\n")
            found += rows(field, f"{prefix}{name}.")
        return found

    for name, rule in schema["$defs"].items():
        parts += [f"\n## {name.replace('_', '-')}\n\n{rule.get('description', '')}\n"]
        fields = rows(rule)
        if fields:
            parts += ["\n| field | type | meaning |\n|---|---|---|\n", *fields]
    return "".join(parts)


def python_reference(package) -> str:
    """The docstrings of everything that is public."""
    parts = [f"# Python\n\n{fenced(inspect.getdoc(package) or '')}\n"]
    for name in package.__all__:
        thing = getattr(package, name)
        if name.startswith("__"):
            continue
        signature = ""
        with contextlib.suppress(TypeError, ValueError):
            signature = str(inspect.signature(thing)).replace("'", "")
        parts.append(f"\n## lnz.{name}\n\n```python\n{wrapped(f'lnz.{name}', signature)}\n```\n\n")
        parts.append(fenced(inspect.getdoc(thing) or "") + "\n")
        for method, value in inspect.getmembers(thing, inspect.isfunction):
            if inspect.isclass(thing) and not method.startswith("_") and method in vars(thing):
                about = fenced(inspect.getdoc(value) or "")
                head = wrapped(method, str(inspect.signature(value)).replace("'", ""))
                parts.append(f"\n### {name}.{method}\n\n```python\n{head}\n```\n\n{about}\n")
    return "".join(parts)


def wrapped(name: str, signature: str) -> str:
    """A signature that is too long for a line has a line for each parameter."""
    line = name + signature
    return line if len(line) <= 100 else line.replace("(", "(\n    ", 1).replace(", ", ",\n    ")


def fenced(doc: str) -> str:
    """A docstring as Markdown: examples in blocks, lists of parameters as they stand."""
    out, block = [], []

    def flush() -> None:
        if block:
            out.append("```pycon\n" + "\n".join(block).rstrip() + "\n```\n")
            block.clear()

    in_example = False
    for line in doc.splitlines():
        in_example = line.lstrip().startswith(">>>") or (in_example and line.strip() != "")
        if in_example:
            block.append(line)
            continue
        flush()
        if re.fullmatch(r"-{3,}", line):
            out[-1] = f"**{out[-1]}**\n"
            continue
        role = re.sub(r":(?:class|func):`~?([\w.]+)`", r"`\1`", line)
        out.append(role.replace("``", "`"))
    flush()
    return "\n".join(out)


def repository_links(text: str) -> str:
    """Links into the repository become plain text, but for those to other pages of the site."""

    def link(match: re.Match[str]) -> str:
        label, target = match.groups()
        path, _, anchor = target.partition("#")
        stem = pathlib.PurePosixPath(path).stem
        if re.match(r"[a-z]+://", target) or target.startswith("#"):
            return match.group(0)
        if path.endswith(".md") and stem in PAGES and "paper/" not in path:
            return f"[{label}]({stem}.md{'#' + anchor if anchor else ''})"
        if stem == "CHANGELOG":
            return f"[{label}](changelog.md)"
        return label

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", link, text)


def gallery(tool: pathlib.Path, folder: pathlib.Path, workshop: Workshop) -> None:
    """Report pages, made by the commands that the gallery names."""
    folder.mkdir(parents=True)
    bars = [[int(k // 4 == row) for k in range(16)] for row in range(4)] * 10
    lines = "\n".join(",".join(map(str, row)) for row in bars)
    (workshop.folder / "bars.csv").write_text(lines + "\n")
    # Training comes before the likelihood under what it has trained.
    for name in sorted(GALLERY, key=lambda name: name == "score"):
        workshop.console(f"$ {GALLERY[name]} --quiet --report {folder / name}.html > /dev/null")
    results = workshop.folder / "paper"
    shutil.copytree(ROOT / "docs" / "paper", results)
    workshop.console("$ lnz paper report --out paper > /dev/null")
    shutil.copy(results / "report.html", folder / "paper.html")


def assemble(tool: pathlib.Path, source: pathlib.Path, scratch: pathlib.Path) -> None:
    """All pages in Markdown, below `source`."""
    import lnz

    source.mkdir(parents=True)
    for page in sorted(HERE.rglob("*.md")):
        name = page.relative_to(HERE)
        workshop = Workshop(tool, scratch / name.with_suffix("").as_posix().replace("/", "-"))
        text = with_outputs(page.read_text(encoding="utf-8"), workshop)
        listed = "\n".join(f"- `{command} --report {key}.html`" for key, command in GALLERY.items())
        write(source / name, text.replace("GALLERY_COMMANDS", listed))
    for stem in PAGES:
        text = (ROOT / "docs" / f"{stem}.md").read_text(encoding="utf-8")
        write(source / f"{stem}.md", repository_links(text))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    write(source / "changelog.md", repository_links(changes))
    write(source / "reference" / "commands.md", commands(tool))
    write(source / "reference" / "json.md", json_reference(lnz.schema()))
    write(source / "reference" / "python.md", python_reference(lnz))
    rust = (
        "# Rust\n\n`cargo doc --open --package lnz` builds and opens the documentation of the library. Its first page "
        "is an example and a table of what to use for what. [Architecture](../architecture.md) is the way into the "
        "source.\n\n```rust\n"
        "let model = lnz::Gwgm::HARDEST.generate(0)?;\nlet found = lnz::estimate(&model)?;\n"
        'println!("{} {:?} {}", found.log_z, found.interval, found.diagnosis.verdict.name());\n```\n'
    )
    write(source / "reference" / "rust.md", rust)
    gallery(tool, source / "gallery", Workshop(tool, scratch / "gallery"))


def write(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if named.get("id"):
            self.anchors.add(str(named["id"]))
        for key in ("href", "src"):
            if named.get(key):
                self.links.append(str(named[key]))


def dead_links(site: pathlib.Path) -> list[str]:
    """Links to files and anchors that are not there."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        page = Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path] = page
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            target = path if not parts.path else (path.parent / urllib.parse.unquote(parts.path))
            target = pathlib.Path(os.path.normpath(target))
            if target.is_dir():
                target = target / "index.html"
            anchor = urllib.parse.unquote(parts.fragment)
            if not target.exists():
                dead.append(f"{path.relative_to(site)}: {link}")
            elif (
                anchor and target in pages and anchor not in pages[target].anchors | {"__comments"}
            ):
                dead.append(f"{path.relative_to(site)}: {link} (no such anchor)")
    # The page for addresses that do not exist is for servers, and its links begin at their top.
    return [link for link in dead if not link.startswith("404.html")]


def main(tool: pathlib.Path, out: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        assemble(tool, scratch / "docs", scratch / "run")
        settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
        write(scratch / "mkdocs.yml", settings)
        build = [
            sys.executable,
            "-m",
            "mkdocs",
            "build",
            "--quiet",
            "--site-dir",
            str(out.resolve()),
        ]
        subprocess.run(
            build, cwd=scratch, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        )
    dead = dead_links(out.resolve())
    if dead:
        sys.exit("dead links:\n" + "\n".join(dead))
    pages = len(list(out.rglob("*.html")))
    print(f"{pages} pages in {out}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
