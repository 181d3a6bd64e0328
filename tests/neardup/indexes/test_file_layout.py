import pytest

from neardup.indexes.index_files import Layout, LayoutError, Span, layout_of

A, B, C, AB, ABC = (
    "00000001-00000001.seg",
    "00000002-00000002.seg",
    "00000003-00000003.seg",
    "00000001-00000002.seg",
    "00000001-00000003.seg",
)
LOG1, LOG2, LOG3, LOG4 = (f"{number:08d}.log" for number in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("names", "layout"),
    [
        ([], Layout([], 1, False, [])),
        (["index.lock"], Layout([], 1, False, [])),
        ([f"{LOG1}.tmp"], Layout([], 1, False, [f"{LOG1}.tmp"])),
        ([LOG1], Layout([], 1, True, [])),
        # A segment was put in place, and the next log was not made.
        ([LOG1, A], Layout([Span(1, 1)], 2, False, [LOG1])),
        # The next log was made, and the old one not removed.
        ([LOG1, A, LOG2], Layout([Span(1, 1)], 2, True, [LOG1])),
        ([A, LOG2], Layout([Span(1, 1)], 2, True, [])),
        ([A, B, LOG3], Layout([Span(1, 1), Span(2, 2)], 3, True, [])),
        # A merged segment was put in place, and its inputs not, or not all, removed.
        ([A, LOG2, AB], Layout([Span(1, 2)], 3, False, [A, LOG2])),
        ([A, B, LOG3, ABC, LOG4], Layout([Span(1, 3)], 4, True, [A, B, LOG3])),
        ([B, ABC, LOG4], Layout([Span(1, 3)], 4, True, [B])),
        ([A, AB, B, C, LOG4], Layout([Span(1, 2), Span(3, 3)], 4, True, [A, B])),
        # A segment that was being written.
        ([LOG1, f"{A}.tmp"], Layout([], 1, True, [f"{A}.tmp"])),
        # What is none of ours stays.
        ([LOG1, ".DS_Store", "notes.tmp"], Layout([], 1, True, [])),
    ],
)  # fmt: skip
def test_names_tell_what_counts(names: list[str], layout: Layout) -> None:
    if "notes.tmp" in names:
        with pytest.raises(LayoutError, match=r"notes\.tmp"):
            layout_of(names)
        names.remove("notes.tmp")
    assert layout_of(names) == layout


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        ([A], "the log '00000002.log', found none"),
        ([LOG2], "'00000001.log' to be the newest log, found '00000002.log'"),
        ([A, LOG3], "'00000002.log' to be the newest log, found '00000003.log'"),
        ([B, LOG3], "a segment that starts with log 1, found '00000002-00000002.seg'"),
        ([A, C, LOG4], "a segment that starts with log 2, found '00000003-00000003.seg'"),
        ([AB, "00000002-00000003.seg", LOG4], "starts with log 3, found '00000002-00000003.seg'"),
        (["00000000-00000001.seg", LOG2], "found '00000000-00000001.seg'"),
        (["00000002-00000001.seg", LOG2], "found '00000002-00000001.seg'"),
        ([LOG1, "copy.log"], "a file name such as 00000001.log, found 'copy.log'"),
        ([LOG1, "1-1.seg"], "found '1-1.seg'"),
    ],
)
def test_names_that_contradict_one_another_are_refused(names: list[str], complaint: str) -> None:
    with pytest.raises(LayoutError) as caught:
        layout_of(names)
    assert complaint in str(caught.value)
