"""The pages about instructions and commits, from the sample of edits."""

from msgspec.structs import replace

from sitegen.model.site import Page
from sitegen.model.timeline import InstructionHistory
from sitegen.pages.edit import EditView, draw_edit
from sitegen.pages.effects import effect_rows
from sitegen.pages.instruction import CountedEdit, InstructionView, show_text
from sitegen.pages.instructions import FileRecord, instructions_page
from sitegen.text.sections import text_stats
from tests import pages_sample_diffs as sample


def pages() -> list[Page]:
    texts = ("", *sample.VERSIONS)
    found = [
        EditView(
            path=sample.FILE.path,
            edits=sample.FILE.edits[max(0, index - 1) : index + 1],
            index=index,
            patch=draw_edit(sample.FILE.edits[index], sample.patch_of(texts[index], texts[index + 1])),
            effects=effect_rows((sample.MANY_EFFECTS, sample.EFFECTS, ())[index]),
            sizes=(text_stats(texts[index].encode()) if index else None, text_stats(texts[index + 1].encode())),
        ).page
        for index in range(3)
    ]
    hostile = InstructionHistory(
        "prompts/<i>odd\u202e name.md",
        (
            sample.edit(sample.commit(11, sample.HOSTILE_SUBJECT), None, sample.V1, status="added"),
            sample.edit(sample.commit(12, sample.HOSTILE_SUBJECT), sample.V1, sample.HOSTILE),
        ),
    )
    long = draw_edit(hostile.edits[1], sample.patch_of(sample.V1, sample.HOSTILE + "x" * 100_000))
    found.append(
        EditView(path=hostile.path, edits=hostile.edits, index=1, patch=long, effects=effect_rows(sample.EFFECTS)).page
    )
    records = [CountedEdit(sample.patch_of(texts[index], texts[index + 1]).counts, ()) for index in range(3)]
    odd = [CountedEdit(None, ()), CountedEdit(sample.patch_of(sample.V1, sample.HOSTILE).counts, ())]
    effects = (sample.MANY_EFFECTS, sample.EFFECTS, ())
    for file, edits, of_edits, text in (
        (sample.FILE, records, effects, sample.V3),
        (hostile, odd, ((), ()), sample.HOSTILE),
    ):
        shown = show_text(text.encode())
        found.append(InstructionView(file=file, edits=tuple(edits), effects=of_edits, text=shown).page)
    found.append(
        instructions_page(
            [
                FileRecord(
                    history=sample.FILE,
                    counts=tuple(record.counts for record in records),
                    grades=(("better", 2), ("cannot tell", 3)),
                    effects=sample.EFFECTS,
                    measured=sample.FILE.edits[1].commit,
                ),
                FileRecord(history=hostile, counts=tuple(record.counts for record in odd), grades=()),
                FileRecord(
                    history=replace(sample.FILE, path="prompts/old.md", deleted=True), counts=(None,) * 3, grades=()
                ),
                FileRecord(
                    history=replace(sample.FILE, path="prompts/sowing.md"),
                    counts=(None,) * 3,
                    grades=(),
                    effects=sample.MANY_EFFECTS,
                ),
            ],
            (),
            (),
        )
    )
    found.append(sample.commit_view().page)
    found.append(sample.edit_view(around_edits=sample.EFFECTS).page)
    return found
