"""The graph of a scene for other programs: Graphviz, and those that read GraphML (Gephi, yEd, networkx)."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

SHAPES = {"op": "ellipse", "group": "box3d"}
"""Graphviz's shapes by kind of node; all others are boxes."""


def dot(scene: Mapping[str, Any]) -> str:
    """The graph in Graphviz's language: edges in the direction of the forward pass, those without a gradient dashed."""
    return "\n".join(["digraph backstep {", "  rankdir=LR;", *_statements(scene), "}", ""])


def _statements(scene: Mapping[str, Any]) -> Iterator[str]:
    for node in scene["nodes"]:
        label = "\n".join(filter(None, (node["label"], node["sub"])))
        yield f"  {_quoted(node['id'])} [label={_quoted(label)}, shape={SHAPES.get(node['kind'], 'box')}];"
    for edge in scene["edges"]:
        style = "" if edge["grad"] else ", style=dashed"
        yield f"  {_quoted(edge['source'])} -> {_quoted(edge['target'])} [id={_quoted(edge['id'])}{style}];"


def _quoted(text: str) -> str:
    r"""A text as Graphviz's quoted string.

    >>> print(_quoted('a "b"'))
    "a \"b\""
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def graphml(scene: Mapping[str, Any]) -> bytes:
    """The graph as GraphML, with label, kind, role, shape, dtype and position of each node."""
    graph = nx.MultiDiGraph()
    for node in scene["nodes"]:
        facts = {"label": node["label"], "detail": node["sub"], "kind": node["kind"], "role": node["role"]}
        shape = {"shape": json.dumps(node["shape"]), "dtype": node["dtype"]} if node["shape"] is not None else {}
        graph.add_node(node["id"], **facts, **shape, x=float(node["x"]), y=float(node["y"]))
    for edge in scene["edges"]:
        graph.add_edge(edge["source"], edge["target"], key=edge["id"], gradient=edge["grad"], input=edge["input"] or "")
    text = io.BytesIO()
    nx.write_graphml_xml(graph, text)
    return text.getvalue()
