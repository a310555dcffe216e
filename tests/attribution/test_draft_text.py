"""The running text of drafts: sentences stand where they stand in the draft, and nothing else is left."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.drafts.draft_text import (
    DraftFormat,
    draft_format,
    readable_markdown,
    running_text,
    without_joiners,
)
from quoteweave.generation.gate.claims import claims_of

MARKDOWN = """---
title: Front matter of 2023
---
# A heading of 2023

Set in two lines of 2023
========================

> The port shipped 4 tonnes
> of [grain](http://x.org/5_(a) "title"). More[^1] came.

| A table | of 2023 |
|---|---|
| a | b |

- item 7
- item 8 <!-- a comment of 2023 -->

```
code of 2023
```

<div>HTML of 2023</div>

[ref]: http://x.org/2023

Last `x = 1`.
"""
LATEX = r"""\documentclass{article} % The port shipped 1 tonne.
\title{The port of 2023.}
\begin{document}
\section{The Port in 2023}
The port shipped $4{,}210$ tonnes of \emph{grain}.  That was 50\% more~\citep[p. 3]{reed2016}.
M\"uller and {\L}ukasz shipped 4\,210 tonnes\footnote{See \url{http://x.org/a_b} and \textbf{that}.} in
\textbf{May.} Next.
\begin{itemize}
  \item Timber went by rail
  \item[a)] Coal went by \textit{ship}
\end{itemize}
\begin{figure*}\includegraphics{x}\caption{The port shipped 3 tonnes.}\end{figure*}
The rate is
\begin{equation}
  x = 5
\end{equation}
where $x = 5$. \nocite{*}Then \verb|The port| ended.
\begin{verbatim}
The port shipped 9 tonnes % no
\end{verbatim}
\end{document}
The port shipped 8 tonnes.
"""


def sentences(draft: str, form: DraftFormat) -> list[str]:
    text = running_text(draft, form)
    return [without_joiners(text[claim.start : claim.end]) for claim in claims_of(text)]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_markdown_is_read_without_what_is_no_paragraph(line_end: str) -> None:
    assert sentences(MARKDOWN.replace("\n", line_end), "markdown") == [
        "The port shipped 4 tonnes of grain .",
        "More came.",
        "- item 7",
        "- item 8",
        "Last `x = 1`.",
    ]


ODD_MARKDOWN = """+++
title = "The port shipped 1 tonne."
+++
The port[^a] shipped 2 tonnes.<br>
It <b>shipped</b> H<sub>2</sub>O.\\
It rained.

[^a]: The port shipped 3 tonnes.
[ref]: http://x.org "The port shipped 4 tonnes."
[b]: <http://x.org>

The rate
$$
x = 5. Or less.
$$
rose. It is
\\begin{align*}
x &= 5. Y
\\end{align*}

::: note
The port shipped 6 tonnes.
:::

[Note]: this was said. A \\begin{align} is a command.
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_other_kinds_of_markdown_add_is_no_text(line_end: str) -> None:
    assert sentences(ODD_MARKDOWN.replace("\n", line_end), "markdown") == [
        "The port shipped 2 tonnes.",
        "It shipped H2O.",
        "It rained.",
        "The port shipped 3 tonnes.",
        "The rate rose.",
        "It is",
        "The port shipped 6 tonnes.",
        "[Note]: this was said.",
        "A \\begin{align} is a command.",
    ]


def test_a_formula_in_a_sentence_of_markdown_is_read_without_its_signs() -> None:
    """A limit of "$50$ mg/l" was one in dollars."""
    draft = r"The limit is $50$ mg/l. It rose by $4{,}210$ or $18.6\%$ to $p = 1.99$ euros. It cost $5 to $10, or \$7."
    assert sentences(draft, "markdown") == [
        "The limit is 50 mg/l.",
        "It rose by 4,210 or 18.6% to p = 1.99 euros.",
        r"It cost $5 to $10, or \$7.",
    ]


def test_latex_is_read_without_commands_and_environments() -> None:
    assert sentences(LATEX, "latex") == [
        "The port shipped 4,210 tonnes of grain.",
        r"That was 50% more \cite{xxxxxxxxxxxxxxx}.",
        "Müller and Łukasz shipped 4\u202f210 tonnes in May.".replace("\u202f", " "),
        "Next.",
        "- Timber went by rail",
        "- Coal went by ship",
        "The rate is where x = 5.",
        "Then ended.",
    ]


def test_a_thin_space_between_digits_is_kept_as_one() -> None:
    assert running_text(r"4\,210", "latex").replace("\u2060", "") == "4\u202f210"


@pytest.mark.parametrize("opened", [r"\begin{figure}", r"\begin{verbatim}"])
def test_an_environment_that_is_never_closed_is_left_alone_to_the_end(opened: str) -> None:
    assert sentences(f"Grain went by rail.\n{opened}\nIt rained.", "latex") == ["Grain went by rail."]


def test_plain_text_is_read_whole() -> None:
    assert sentences("\ufeff# Grain went by rail.\n    It rained.", "text") == ["# Grain went by rail.", "It rained."]


@pytest.mark.parametrize(
    ("name", "form"), [("a.tex", "latex"), ("A.TXT", "text"), ("a.md", "markdown"), ("-", "markdown")]
)
def test_the_format_is_told_by_the_name(name: str, form: DraftFormat) -> None:
    assert draft_format(name) == form


@given(
    st.lists(
        st.sampled_from(
            ["Grain. ", "\n", "\r\n", "\\emph{", "}", "{", "$", "%", "\\begin{figure}", "\\end{figure}", "\\cite{a}",
             "\\", "[", "]", "#", "- ", "> ", "`", "```\n", "|", "<!--", "[a](b)", "---\n", "\\[", "\\]", "\x0b", "é"]
        ),
        max_size=25,
    ).map("".join),
    st.sampled_from(["markdown", "text", "latex"]),
)  # fmt: skip
def test_no_character_is_moved(draft: str, form: DraftFormat) -> None:
    assert len(running_text(draft, form)) == len(draft)


@pytest.mark.parametrize(
    "part",
    ["\\a{", "\\[", "\\(", "\\emph{", "\\begin{x}", "$", "\\cite[", "[a](", "<!--", "\\verb|",
     "\\begin{align}", "$$ a", "<a ", "[a]: x \"", "[^a"],
)  # fmt: skip
def test_brackets_that_are_never_closed_take_no_longer_than_others(part: str) -> None:
    draft = part * 10_000
    assert len(running_text(draft, "latex")) == len(running_text(draft, "markdown")) == len(draft)


@pytest.mark.parametrize(
    ("draft", "shown"),
    [
        ("Two lines of a\nheading\n===\nText", "**Two lines of a heading**\n\nText"),
        ("The _harbour_ is __much__ used, ``a`b`` too", "The harbour is **much** used, a`b too"),
        ("the *p pointer and `q` end*, 2 * 3 * 4, a_b_c", "the p pointer and q end, 2 * 3 * 4, a_b_c"),
        ("**All of __it__ is\nbold**", "**All of it is bold**"),
        ("# A **bold** head", "**A bold head**"),
        ("# Head with [1]\n\n[1]: http://x", "**Head with [1]**\n\n\n[1]: http://x"),
        ("The port [1].\n---", "The port [1]."),
        ("Grain ![](image2) went [1, 2](http://x), *far [3]*.", "Grain ![](image2) went 1, 2, far [3]."),
        ("It says `[1]` and \\[2\\].", "It says (1) and (2)."),
        ("One.\r\rTwo\r# Three\rFour.", "One.\n\nTwo\n\n**Three**\n\nFour."),
        ("> 1. 1\n>    and *two*\n>\n> - > three", "1. 1 and two\n>\n- three"),
        ("\ufdd07\ufdd1 x\ufdd0", "7 x"),
        ("| *a* | b |\n|---|---|\n| [1] | c |", "| *a* | b |\n|---|---|\n| [1] | c |"),
    ],
)
def test_markdown_reads_without_its_signs_and_keeps_citation_marks(draft: str, shown: str) -> None:
    assert readable_markdown(draft).strip() == shown
