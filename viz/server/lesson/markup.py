"""The page's components as plain HTML, for a page without Dash.

Elements keep their tags.  A component of the library becomes the element that it is to a user, with the class names
that the library gives it, so that the style sheets of the app fit; assets/js/lesson/components.mjs gives them life.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from html import escape
from typing import Any

VOID = frozenset({"br", "hr", "img", "input", "wbr"})
RENAMED = {"className": "class", "htmlFor": "for", "tabIndex": "tabindex", "n_clicks": None, "key": None}
_CAPITAL = re.compile(r"[A-Z]")


def markup(part: Any, without: Collection[str] = ()) -> str:
    """The HTML of a component, a text, or a list of both; those with an id in `without` are left out.

    >>> from dash import html
    >>> markup(html.P(["a < b ", html.Code("x")], className="lead"))
    '<p class="lead">a &lt; b <code>x</code></p>'
    """
    if part is None:
        return ""
    if isinstance(part, (list, tuple)):
        return "".join(markup(one, without) for one in part)
    if not hasattr(part, "to_plotly_json"):
        return escape(str(part))
    described = part.to_plotly_json()
    props = dict(described["props"])
    if props.get("id") in without:
        return ""
    write = COMPONENTS.get(described["type"]) if described["namespace"] != "dash_html_components" else None
    if write is not None:
        return write(props, without)
    if described["namespace"] != "dash_html_components":
        return ""  # a store, or what is mounted later
    return _element(described["type"].lower(), props, without)


def _element(tag: str, props: Mapping[str, Any], without: Collection[str], **more: Any) -> str:
    attributes = "".join(_attribute(name, value) for name, value in {**more, **props}.items() if name != "children")
    inside = "" if tag in VOID else f"{markup(props.get('children'), without)}</{tag}>"
    return f"<{tag}{attributes}>{inside}"


def _attribute(name: str, value: Any) -> str:
    attribute = RENAMED.get(name, name)
    is_stated = name.startswith(("aria-", "data-"))
    if attribute is None or value is None or (value is False and not is_stated) or isinstance(value, (list, Mapping)):
        return f' style="{_style(value)}"' if name == "style" and isinstance(value, Mapping) else ""
    text = "" if value is True and not is_stated else str(value).lower() if isinstance(value, bool) else str(value)
    return f' {attribute}="{escape(text)}"'


def _style(rules: Mapping[str, Any]) -> str:
    return escape(";".join(f"{_CAPITAL.sub(lambda c: '-' + c[0].lower(), key)}:{rules[key]}" for key in rules))


def _passed_attributes(props: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The attributes that a component passes on to its element: its id, all `data-` and `aria-`, and these names."""
    attributes = ("id", "title", "role", *names)
    return {name: value for name, value in props.items() if name in attributes or name.startswith(("data-", "aria-"))}


def _through(props: Mapping[str, Any], without: Collection[str]) -> str:
    return markup(props.get("children"), without)


def _provider(props: Mapping[str, Any], without: Collection[str]) -> str:
    return _element("div", {"id": "theme", "children": props["children"]}, without)


def _button(props: Mapping[str, Any], without: Collection[str]) -> str:
    more = {"data-variant": props.get("variant", "filled"), "data-size": props.get("size")}
    stated = _passed_attributes(props, "children", "disabled")
    return _element("button", stated, without, type="button", className="mantine-Button-root", **more)


def _icon(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = _passed_attributes(props, "children", "disabled")
    return _element("button", stated, without, type="button", className="mantine-ActionIcon-root")


def _tooltip(props: Mapping[str, Any], without: Collection[str]) -> str:
    return markup(props["children"], without).replace(">", f' title="{escape(props["label"])}">', 1)


def _menu(props: Mapping[str, Any], without: Collection[str]) -> str:
    target, entries = (markup(one, without) for one in props["children"])
    if "role=" not in entries:
        return ""
    opener = target.replace(">", ' aria-haspopup="menu" aria-expanded="false">', 1)
    return f'<span class="menu">{opener}<div class="mantine-Menu-dropdown" role="menu" hidden>{entries}</div></span>'


def _item(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = {**_passed_attributes(props, "children"), "role": "menuitem"}
    return _element("button", stated, without, type="button", className="mantine-Menu-item", tabIndex="-1")


def _divider(_props: Mapping[str, Any], _without: Collection[str]) -> str:
    return "<hr>"


def _tabs(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = {**_passed_attributes(props, "children"), "data-value": props["value"]}
    return _element("div", stated, without, className="mantine-Tabs-root")


def _tab_list(props: Mapping[str, Any], without: Collection[str]) -> str:
    return _element("div", {"role": "tablist", "children": props["children"]}, without, className="mantine-Tabs-list")


def _tab(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = {"role": "tab", "data-tab": props["value"], "aria-selected": "false", "children": props["children"]}
    return _element("button", stated, without, type="button", className="mantine-Tabs-tab", tabIndex="-1")


def _panel(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = {"role": "tabpanel", "data-panel": props["value"], "children": props["children"], "hidden": True}
    return _element("div", stated, without, className="mantine-Tabs-panel")


def _switch(props: Mapping[str, Any], without: Collection[str]) -> str:
    box = _element("input", _passed_attributes(props), without, type="checkbox", role="switch")
    title = escape((props.get("wrapperProps") or {}).get("title", ""))
    return f'<label class="plain-switch" title="{title}">{box}<span>{escape(props["label"])}</span></label>'


def _text(props: Mapping[str, Any], without: Collection[str]) -> str:
    stated = _passed_attributes(props, "placeholder")
    box = _element("input", stated, without, type="text", className="mantine-Input-input")
    return f'<div class="mantine-Input-wrapper">{box}</div>'


def _choice(props: Mapping[str, Any], without: Collection[str], multiple: bool = False) -> str:
    select = _element("select", _passed_attributes(props), without, className="mantine-Input-input", multiple=multiple)
    note = props.get("description")
    described = f'<div class="mantine-InputWrapper-description">{escape(note)}</div>' if note else ""
    label = f'<label class="mantine-InputWrapper-label" for="{escape(props["id"])}">{escape(props["label"])}</label>'
    inside = f'{label}{described}<div class="mantine-Input-wrapper">{select}</div>'
    return f'<div class="mantine-InputWrapper-root">{inside}</div>'


def _choices(props: Mapping[str, Any], without: Collection[str]) -> str:
    return _choice(props, without, multiple=True)


COMPONENTS: Mapping[str, Callable[[Mapping[str, Any], Collection[str]], str]] = {
    "MantineProvider": _provider, "Tooltip": _tooltip, "ActionIcon": _icon, "Button": _button,
    "Menu": _menu, "MenuTarget": _through, "MenuDropdown": _through, "MenuItem": _item, "MenuDivider": _divider,
    "Tabs": _tabs, "TabsList": _tab_list, "TabsTab": _tab, "TabsPanel": _panel,
    "Switch": _switch, "TextInput": _text, "Select": _choice, "MultiSelect": _choices,
}  # fmt: skip
