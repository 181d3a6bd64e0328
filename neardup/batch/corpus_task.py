"""Describe what a run is asked to do, on one machine as on Spark."""

from argparse import Namespace
from dataclasses import dataclass, field
from typing import NamedTuple

from neardup.batch.input_files import Fields, File, InputOptions
from neardup.batch.parsing import check_fields, extractor_of
from neardup.batch.rows import DAMAGED
from neardup.errors import BadInputError, InputError, ParameterError
from neardup.languages import language_codes, language_tag
from neardup.parameters import DEFAULTS, Parameters


class ReadingChoices(NamedTuple):
    """The choices by which the documents of a run were read.

    Attributes:
        extractor: The name of what found the main text of HTML; None: all texts were in rows.
        languages: The languages of documents that were read, in order; empty: any.
    """

    extractor: str | None = None
    languages: tuple[str, ...] = ()

    def after(self, earlier: "ReadingChoices") -> "ReadingChoices":
        """Return the choices for this run and an earlier one that it goes on from."""
        return self._replace(extractor=self.extractor or earlier.extractor)

    def check_as(self, earlier: "ReadingChoices", where: str) -> None:
        """Refuse to go on from what was read otherwise.

        Raises:
            InputError: The extractors or the languages differ.
        """
        extractors = [one.extractor for one in (earlier, self)]
        if None not in extractors and len(set(extractors)) > 1:
            self._refuse(where, "--extractor", *map(str, extractors))
        if self.languages != earlier.languages:
            both = [",".join(one.languages) or "any" for one in (earlier, self)]
            self._refuse(where, "--language", *both)

    def _refuse(self, where: str, option: str, stored: str, wanted: str) -> None:
        raise InputError(
            f"{where}: made with {option} {stored}, now it is {wanted}; use the same, or begin anew"
        )


@dataclass(frozen=True, slots=True)
class CorpusTask:
    """The part of a task that all runs have.

    Attributes:
        input: The input, as it was given.
        files: The files of the input, in order.
        parameters: The parameters that decide which texts are the same.
        options: The choice of what is read of the files.

    Raises:
        ParameterError: Parts are to be dropped, which are not looked for here.
        InputError: No reader of the files has the extractor, or no row a field that was named.
    """

    input: str
    files: list[File]
    parameters: Parameters = DEFAULTS
    options: InputOptions = field(default_factory=InputOptions)

    def __post_init__(self) -> None:
        if self.parameters.drop_contained:
            raise ParameterError("no parts are looked for in a corpus; leave out drop_contained")
        extractor_of(self.files, self.options.extractor)
        check_fields(self.files, self.options.fields)

    @property
    def reading(self) -> ReadingChoices:
        """The parts of the files that are read, to be compared with those of another run."""
        languages = {language_tag(one) or one for one in self.options.languages}
        extractor = extractor_of(self.files, self.options.extractor)
        return ReadingChoices(extractor, tuple(sorted(languages)))


def no_text(task: CorpusTask, why: str | None) -> InputError:
    """Return the error of an input without texts, given why something of it was left out.

    Raises:
        InputError: No row has the field of the text; the message names those that there are.
    """
    if why is not None and why.startswith(DAMAGED):
        return BadInputError(f"{task.input}: no text in it; {why}")
    check_fields(task.files, Fields(task.options.fields.names[0][0]))
    return InputError(f"{task.input}: no text in it" + ("" if why is None else f"; {why}"))


def input_options_of(options: Namespace) -> InputOptions:
    """Return what the options of a command choose to read."""
    fields = Fields(
        options.text_field,
        options.id_field,
        options.title_field,
        options.date_field,
        options.language_field,
    )
    return InputOptions(fields, options.extractor, language_codes(options.language))
