"""What a run is asked to do, on one machine as on Spark."""

from argparse import Namespace
from dataclasses import dataclass, field

from neardup.batch.input_files import Fields, File, InputOptions
from neardup.batch.parsing import check_extractor
from neardup.errors import ParameterError
from neardup.parameters import DEFAULTS, Parameters


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
        InputError: No reader of the files has the extractor.
    """

    input: str
    files: list[File]
    parameters: Parameters = DEFAULTS
    options: InputOptions = field(default_factory=InputOptions)

    def __post_init__(self) -> None:
        if self.parameters.drop_contained:
            raise ParameterError("no parts are looked for in a corpus; leave out drop_contained")
        check_extractor(self.files, self.options.extractor)


def input_options_of(options: Namespace) -> InputOptions:
    """Return what the options of a command choose to read."""
    named = {
        "text": options.text_field,
        "name": options.id_field,
        "title": options.title_field,
        "date": options.date_field,
        "language": options.language_field,
    }
    fields = Fields(**{name: value for name, value in named.items() if value is not None})
    languages = () if options.language is None else tuple(options.language.split(","))
    return InputOptions(fields, options.extractor, languages)
