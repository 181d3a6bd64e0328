"""A formula of a page stands once in its content, as TeX that Markdown reads back."""

from __future__ import annotations

import pytest
from lxml.etree import fromstring

from crawler.reading.content.blocks import cut_blocks
from crawler.reading.content.content_body import build_body
from crawler.reading.content.content_shapes import write_code
from crawler.reading.content.content_text import markdown
from crawler.reading.content.formulas import write_formulas
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible
from tests.crawler.reading.content.test_content import PROSE, content_of

POWER = "<msup><mi>x</mi><mn>2</mn></msup>"
TEX = '<annotation encoding="application/x-tex">x^2</annotation>'
MATHJAX = '<script src="https://cdn.example/mathjax@3/es5/tex-chtml.js"></script>'
WIKIPEDIA = (
    '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none">'
    f'<math alttext="{{\\displaystyle x^2}}">{POWER}</math></span><img aria-hidden="true" '
    'class="mwe-math-fallback-image-inline" src="/math/render/svg/a" alt="x^2"></span>'
)
DRAWN = '<span class="MathJax_Preview"></span><span class="MathJax"><nobr>x2</nobr></span>'


def written(html: str) -> str:
    """All of a page as Markdown."""
    root = parse(f"<html><body>{html}</body></html>".encode())
    blocks = cut_blocks(write_formulas(root, flatten(root)))
    if write_code(root, blocks):
        blocks = cut_blocks(flatten(root))
    return markdown(fromstring(build_body(blocks, range(len(blocks.texts)))))


def test_a_displayed_formula_may_follow_its_number() -> None:
    assert written("<p><b>(1)</b>\\[x^2\\]") == "**(1)**\n$$\nx^2\n$$"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<math><semantics>{POWER}{TEX}</semantics></math>", "$x^2$"),
        (
            f'<span class="katex"><span class="katex-mathml"><math><semantics>{POWER}{TEX}'
            '</semantics></math></span><span class="katex-html">x2</span></span>',
            "$x^2$",
        ),
        (
            '<span class="katex-display"><span class="katex"><span class="katex-mathml"><math>'
            f'<semantics>{POWER}{TEX}</semantics></math></span><span class="katex-html">x2</span>'
            "</span></span>",
            "\n$$\nx^2\n$$\n",
        ),
        (WIKIPEDIA, "$x^2$"),
        (
            '<img class="mwe-math-fallback-image-display" src="a.svg" alt="{\\textstyle x^2}">',
            "\n$$\nx^2\n$$\n",
        ),
        ('<img src="https://s0.wp.example/latex.php?latex=x" alt="x^2" class="latex">', "$x^2$"),
        (f'{DRAWN}<script type="math/tex">x^2</script>', "$x^2$"),
        (
            '<script type="math/tex; mode=display">% <![CDATA[\nx < 2 %]]></script>',
            "\n$$\nx < 2\n$$\n",
        ),
        (
            '<mjx-container class="MathJax"><mjx-math>x2</mjx-math><mjx-assistive-mml><math>'
            f"{POWER}</math></mjx-assistive-mml></mjx-container>",
            "$x^{2}$",
        ),
        (
            f'<span class="katex"><i>y</i></span><span class="katex"><math>{POWER}</math></span>',
            "*y*$x^{2}$",
        ),
        ('<math-renderer class="js-display-math">$$x^2$$</math-renderer>', "\n$$\nx^2\n$$\n"),
        ('<img src="_images/math/a.png" alt="x^2">', "$x^2$"),
        ("<d-math block>x^2</d-math>", "\n$$\nx^2\n$$\n"),
        (f'<math alttext="square of a length">{POWER}</math>', "$x^{2}$"),
    ],
)
def test_formula_stands_once(html: str, expected: str) -> None:
    space = "" if expected[0] == "\n" else " "
    assert written(f"<p>It is {html} here.</p>") == f"It is{space}{expected}{space}here."


@pytest.mark.parametrize(
    ("mathml", "tex"),
    [
        ("<mi>s</mi><mo>=</mo><mfrac><mi>w</mi><mn>2</mn></mfrac>", r"s=\frac{w}{2}"),
        ("<msqrt><mi>a</mi><mo>−</mo><mn>1</mn></msqrt>", r"\sqrt{a-1}"),
        ("<mroot><mi>a</mi><mn>3</mn></mroot>", r"\sqrt[3]{a}"),
        ("<munderover><mo>∑</mo><mi>k</mi><mi>n</mi></munderover><mi>k</mi>", "∑_{k}^{n}k"),
        ("<mi>sin</mi><mo>\u2061</mo><mi>x</mi>", r"\operatorname{sin}x"),
        ("<mi>speed</mi><mo>&lt;</mo><mn>50</mn><mo>%</mo>", r"\operatorname{speed}<50\%"),
        ("<mover><mi>v</mi><mo>→</mo></mover>", r"\overset{→}{v}"),
        ("<msup><mrow><mi>a</mi><mi>b</mi></mrow><mn>2</mn></msup>", "{ab}^{2}"),
        ("<mfenced open='{' close='}'><mi>a</mi><mi>b</mi></mfenced>", r"\{a,b\}"),
        ("<mi>x</mi><mtext> if new</mtext>", r"x\text{if new}"),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr><mtr><mtd><mn>0</mn>"
            "</mtd><mtd><mn>1</mn></mtd></mtr></mtable>",
            r"\begin{matrix}1 & 0 \\ 0 & 1\end{matrix}",
        ),
        ("<msup><mi>x</mi></msup>", "x"),
        ("<mrow>" * 200 + "<mi>x</mi><mn>2</mn>" + "</mrow>" * 200, "x2"),
    ],
)
def test_mathml_without_tex_is_written_as_tex(mathml: str, tex: str) -> None:
    assert written(f"<p>So <math>{mathml}</math>.</p>") == f"So ${tex}$."


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("where $E_{w} * 2$ holds", "where $E_{w} * 2$ holds"),
        ("for $n$ or $n + 1$ planks", "for $n$ or $n + 1$ planks"),
        ("$$ a_{1}*b_{1} $$", "$$\na_{1}*b_{1}\n$$"),
        (r"\begin{align} a_1 &amp;= b \end{align}", "$$\n\\begin{align} a_1 &= b \\end{align}\n$$"),
        ("from $5 to $10 each", "from $5 to $10 each"),
        ("$5 for the keeper and 7$ more", "\\$5 for the keeper and 7$ more"),
        (r"\(x\) costs ($5)(\(y\))", "$x$ costs (\\$5)($y$)"),
        ("$5 or $6 for $n$ planks", "$5 or $6 for $n$ planks"),
        ("<code>$a_1$</code> is code", "`$a_1$` is code"),
    ],
)
def test_formulas_are_read_between_dollars_where_a_script_draws_them(
    typed: str, expected: str
) -> None:
    assert written(f"{MATHJAX}<p>{typed}</p>") == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("from $5 to $10", "from $5 to $10"),
        ("$5, or 6$ at the door", "\\$5, or 6$ at the door"),
        ("$$ Thai $$$", "\\$$ Thai $$$"),
    ],
)
def test_dollars_that_would_be_read_as_a_formula_are_escaped(said: str, expected: str) -> None:
    assert written(f"<p>{said}</p>") == expected


def test_words_of_a_formula_count_once_in_the_text_that_is_judged() -> None:
    page = f"<main><h1>Sag</h1><p>{PROSE}</p><p>{PROSE} It is {WIKIPEDIA} there.</p></main>"
    assert content_of(page).text.endswith(r"It is \(x^2\) there.")


def test_pages_that_differ_in_a_formula_of_a_script_differ_in_their_visible_text() -> None:
    first, second = (
        read_visible(flatten(parse(f'<p>a</p><script type="math/tex">{tex}</script>'.encode())))
        for tex in ("x^2", "x^3")
    )
    assert first.text != second.text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            '<span class="abstract mathjax">We show <script type="math/tex">x^2</script> and'
            ' <script type="math/tex">y_1</script>.</span>',
            "We show $x^2$ and $y_1$.",
        ),
        (
            '<div class="mathjax-block">The sag <math><mi>w</mi></math> and the load'
            " <math><mi>q</mi></math>.</div>",
            "The sag $w$ and the load $q$.",
        ),
        ('<p>a <img src="/math/team.jpg" alt="A_B team"></p>', "a ![A_B team](/math/team.jpg)"),
    ],
)
def test_what_holds_more_than_a_formula_stays(html: str, expected: str) -> None:
    assert " ".join(written(html).split()) == expected
