"""Light and dark: as the system has it, or as somebody chose; the browser remembers."""

from __future__ import annotations

from nicegui import app, ui

_BEFORE_IT_IS_DRAWN = """<script>
if (localStorage.labTheme) document.documentElement.dataset.theme = localStorage.labTheme;
</script>"""

_AFTER_NICEGUI_CHOSE = """
        setDark({dark: true, light: false}[localStorage.labTheme] ?? null);
"""

_SWITCH = """() => {
  const chosen = {undefined: "dark", dark: "light", light: undefined}[localStorage.labTheme];
  if (chosen) localStorage.labTheme = document.documentElement.dataset.theme = chosen;
  else { delete localStorage.labTheme; delete document.documentElement.dataset.theme; }
  setDark({dark: true, light: false}[chosen] ?? null);
}"""


def use_themes() -> None:
    """Let every page of the application come in the theme that was chosen in its browser."""
    ui.add_head_html(_BEFORE_IT_IS_DRAWN, shared=True)
    app.config.vue_config_script += _AFTER_NICEGUI_CHOSE


def theme_switch() -> None:
    """A button that goes from the system's to dark to light and round again."""
    with (
        ui.button(color=None)
        .props("flat dense aria-label='light or dark'")
        .classes("icon theme") as switch
    ):
        ui.icon("brightness_auto").classes("auto")
        ui.icon("dark_mode").classes("dark")
        ui.icon("light_mode").classes("light")
    switch.on("click", js_handler=_SWITCH)
