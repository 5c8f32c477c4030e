"""Parts of products are made again where what they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jinja2
import pytest
from helpers.project import Project
from ptxspec import specification
from ptxspec.emit import registry
from ptxspec.emit.parts import Parts
from ptxspec.emit.text import Templates


def test_a_part_is_made_from_templates_of_the_folder_that_it_names(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.bring("spec/tensor", "spec/observed/evidence.yaml", "spec/observed/peers.yaml", "spec/observed/speed.yaml")
    read: set[str] = set()
    get, plain = jinja2.Environment.get_template, Templates.plain

    def noted(environment: jinja2.Environment, name: Any, *arguments: Any, **options: Any) -> jinja2.Template:
        read.add(str(name).partition("/")[0])
        return get(environment, name, *arguments, **options)

    def noted_folder(templates: Templates, folder: str) -> dict[str, str]:
        read.add(folder.partition("/")[0])
        return plain(templates, folder)

    monkeypatch.setattr(jinja2.Environment, "get_template", noted)
    monkeypatch.setattr(Templates, "plain", noted_folder)
    named = set()

    class Watching(Parts):
        def of(self, part: str, opcode: str, folder: str, make: Callable[[], Any]) -> Any:
            def watched() -> Any:
                read.clear()
                found = make()
                assert read <= {folder} - {""}, part
                return found

            named.add(part.partition(" ")[0])
            return super().of(part, opcode, folder, watched)

    found = specification.load(project.root)
    registry.make(found.right(), found.checked, Templates(project.root), Watching())
    assert named == {
        "called",
        "calls",
        "cuda",
        "data",
        "differences",
        "emulator",
        "evaluator",
        "families",
        "followed",
        "functions",
        "guides",
        "history",
        "hover",
        "manual",
        "matrices",
        "native",
        "peers",
        "releases",
        "search",
        "speed",
        "tensor",
    }


def test_a_part_is_kept_until_its_opcode_or_its_templates_change() -> None:
    def made(parts: Parts, folder: str = "manual") -> str:
        return parts.of("page", "add", folder, lambda: f"made of {parts}")

    first = Parts({"add": "1"}, {"manual": "1", "native": "1"})
    page = made(first)
    assert made(Parts({"add": "1"}, {"manual": "1", "native": "2"}, first.made())) == page
    assert made(Parts({"add": "2"}, {"manual": "1", "native": "1"}, first.made())) != page
    assert made(Parts({"add": "1"}, {"manual": "2", "native": "1"}, first.made())) != page
