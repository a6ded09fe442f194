"""What columns and keys are usually called: tables to which a new name is added, and nothing else.

``plain_key`` spells the names in a file as most tables do: in lower case, without separators. Patterns of names as they
are written say so.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sitegen.model.usage import LATENCIES, TOKENS_IN, TOKENS_OUT
from sitegen.text.keys import plain_key

TRUE_LABELS: Final = ("ytrue", "truelabel", "goldlabel")
PREDICTED_LABELS: Final = ("ypred", "predictedlabel", "predlabel")
"""Names that occur in pairs, in tables of a classification."""
LOGPROB: Final = "logprob"
"""The name of a confidence as the natural logarithm of a probability."""
VERDICT: Final = "verdict"
"""The name that has no other meaning, so that a word which is not known is a verdict too."""

PARTS: Final = {
    part: tuple(names.split())
    for part, names in {
        "id": """datasourceitemid datasetitemid id caseid testid testcaseid questionid exampleid sampleid itemid taskid
            docid documentid scenarioid evalid test testcase testname case eval scenario task name key""",
        "input": "input inputs question query prompt userinput instruction text sentence",
        "variant": """variant providerid provider promptid experiment experimentname arm condition agent target system
            promptversion appversion promptname prompt""",
        "model": "model modelid modelname",
        "expected": f"""expected expectedoutput expectedanswer expectedresponse expectedresult expectedvalue groundtruth
            target gold reference referenceanswer ideal {" ".join(TRUE_LABELS)} label answerkey correctanswer goldanswer
            goldenanswer golden""",
        "output": f"""output actual actualoutput modeloutput extracted prediction predicted response modelresponse
            modelanswer llmresponse generatedanswer agentresponse answer result completion
            {" ".join(PREDICTED_LABELS)}""",
        "error": "error errormessage",
        "reasoning": "reasoning reason explanation rationale justification",
        "cost": "cost costusd totalcost",
        "confidence": f"confidence modelconfidence answerconfidence confidencescore probability {LOGPROB}",
        "latency": " ".join(LATENCIES),
        "tokens_in": " ".join(TOKENS_IN),
        "tokens_out": " ".join(TOKENS_OUT),
    }.items()
}
"""Part of a case -> usual names of its column, the most specific first."""
USAGE: Final = ("tokens_in", "tokens_out", "cost", "latency")
EXPECTED: Final = tuple(name for name in PARTS["expected"] if name not in TRUE_LABELS)
OUTPUT: Final = tuple(name for name in PARTS["output"] if name not in PREDICTED_LABELS)
"""Usual names of each side in a file that holds both, the most certain first."""
ANSWER: Final = (*OUTPUT, "pred")
"""Usual names of an output in a file without an expected side."""
INPUTS: Final = ("input", "question", "query", "prompt", "instruction", "task", "text", "messages")

NAMES: Final = {
    what: tuple(names.split())
    for what, names in {
        "verdict": f"""passed pass ispassed correct iscorrect isright gatepass {VERDICT} judgment judgement exactmatch
            em match matched matches ismatch resolved isresolved solved issolved issuccess issuccessful goalachieved
            tasksuccess overallstatus evalresult evaluationresult testresult judgeresult judgelabel llmjudge llmgrade
            evaluation eval autoeval autograder""",
        # These often mean only that a call succeeded.
        "weak verdict": "success status outcome state classification ok",
        "score": "score overallscore totalscore finalscore weightedscore rating grade reward",
        # Points are a score if another column states how many are possible.
        "points": "points pointsearned earned",
        "maximum": "max maxscore maxpoints scoremax maximum outof pointspossible maxpossible",
        "minimum": "min minscore",
        # Objects with the scores or verdicts of a case by the name of their judge, or lists of these.
        "checks": """scores assertions grades verdicts checks evaluations judgescores judgescore
            assertionresults checkresults evaluationresults metricsdata""",
        # Lists of such checks. Objects of these names hold other things.
        "listed checks": "expectations results metrics",
        # Lists with the answers to one case.
        "attempts": "attempts trials tries repeats repetitions runs samples",
        # Objects with the answer to one case of each system, by its name.
        "systems": "pipelines systems models variants providers arms conditions",
        # Numbers of cases: what has them is a group of cases.
        "count": "total failed fail count",
        # Columns by which a row is a trace, whose id is another one at each run and whose name is that of all.
        "span": "rootspanid spanid traceid observationcount",
        # The time of a run, or of a row.
        "time": "rundate runat startedat createdat timestamp date",
        # Why a judge failed, and whether one saw the answer.
        "error of the judge": "judgeerror gradererror gradingerror evaluatorerror evaluationerror",
        "is judged": "judged isjudged wasjudged",
        # The messages and calls of tools of an agent.
        "transcript": "messages transcript trajectory conversation",
        # What a row states about a question besides what is expected.
        "about the question": f"""{" ".join(INPUTS)} inputs context category class difficulty domain intent language
            level source tags topic type split metadata notes comment""",
        # Names of an expected side that are as often those of a field.
        "side or field": "target reference",
        # Lists in which a report repeats only some of its cases.
        "part of the cases": """errors discrepancies mismatches failures differences diffs missed wrong worst
            regressions""",
    }.items()
}
"""What else a row, or a file, states about a case -> usual names, the most certain first."""
VERDICTS: Final = NAMES["verdict"]
WEAK_VERDICTS: Final = NAMES["weak verdict"]
SCORES: Final = NAMES["score"]
CHECKS: Final = "checks"
"""The name of an object of checks that are found in a row."""

VERDICTS_OF_CHECKS: Final = ("passed", "pass", "success", VERDICT)
GRADES: Final = ("score", "value", *VERDICTS_OF_CHECKS)
"""Keys of a check with its score or its verdict, as they are written, in order of precedence; as in the next two."""
NAMES_OF_CHECKS: Final = (
    *("name", "metric", "check", "criterion", "assertion", "evaluator", "evaluatorName", "title", "key", "id", "type"),
    "text",
)
REASONS: Final = ("reason", "reasoning", "explanation", "rationale", "comment", "evidence", "details")
OF_SCORES: Final = tuple(f"*{end}" for reason in REASONS[:4] for end in (f"_{reason}", f".{reason}", reason.title()))
"""Patterns of columns with the reasons of scores: ``tone_reason`` or ``toneReason`` beside ``tone``."""

_A_DATE_OR_AN_ID: Final = r"(?i)20[0-9]{2}[-_.]?[01][0-9][-_.]?[0-3][0-9]|(?=[a-f-]*[0-9])[0-9a-f-]{6,}$"
RUN_COLUMNS: Final[dict[str, re.Pattern[str]]] = {
    **dict.fromkeys(("runid", "evalrunid"), re.compile(rf"{_A_DATE_OR_AN_ID}|[0-9]$")),
    **dict.fromkeys(
        ("run", "runname", "evalrun", "experiment", "experimentname", "experimentid"), re.compile(_A_DATE_OR_AN_ID)
    ),
    **dict.fromkeys(NAMES["time"], re.compile("^(?=.*[0-9]).{4,40}$")),
}
"""Usual names of columns that may name the run of a row -> what its names look like: a date, an id or a number."""

MADE_ID: Final = re.compile(
    r"(?!(?i:run|commit|sha|build|session|experiment|config|version|git))"
    r"(?:(?:.*[_ -])?(?:ids?|n[or]|number|file|file_?name|fixture|image|document|url)|.*(?:I[dD]|N[or]|Number)|"
    r"(?:(?:task|case|test|item|row|sample|example|question|query)[_ -]?)?(?:idx|[iI]ndex))"
)
"""Matches names, as written, of columns that may hold ids under a name of the author's own, such as ``alert_id``."""
GRADING: Final = re.compile(
    r"assertions?|checks?|grad(?:es?|ing\w*)|scoring|verdicts?|evaluat\w*|judge\w*|metrics?(?:data|results?)"
)
"""Matches plain names of objects or lists in which a tool explains its verdict on a case."""
RUBRIC: Final = re.compile(
    r"(?:accura(?:cy|te)|clarity|clear|coheren(?:ce|t)|complete(?:ness)?|concise(?:ness)?|consistency|correct(?:ness)?|"
    r"creativity|depth|empathy|engagement|factuality|faithful(?:ness)?|fluency|grammar|grounded(?:ness)?|"
    r"harmless(?:ness)?|helpful(?:ness)?|honesty|naturalness|polite(?:ness)?|professionalism|quality|readability|"
    r"relevan(?:ce|cy|t)|safety|style|tone|useful(?:ness)?)(?:score|rating|grade)?"
)
"""Matches plain names of qualities of an answer, each of which a judge grades by a rubric."""
STATED_MEASURE: Final = re.compile(
    r"(?:.*similarity|(?:answer|context)?relevan\w+|(?:answer)?correctness|faithfulness|groundedness|helpfulness|coherence|"
    r"bertscore(?:f1)?|bleu\d?|rouge[l\d]?|judge)(?:score)?|score(?!d)[a-z]+|"
    r"(?:llm|judge|grader|evaluator|eval)(?:score|rating|grade)"
)
"""Matches plain names of numbers that nothing else than a grader writes beside an output."""
JUDGED: Final = re.compile(r"\s*(?:(?:pass|fail)(?:ed)?|(?:in|partially[ _])?correct|partial|wrong)\s*", re.IGNORECASE)
"""Matches words that answer no question but how good an answer is."""
MAY_JUDGE: Final = re.compile(
    r"(?i)(?:.*[^a-z])?(?:assessment|error_?type|failed|grad(?:e|ing)|hallucinat\w+|judg\w*ment|points|rating|rubric|wrong)"
)
"""Matches names, as written, of what may judge an answer on a scale or in words that are not known."""
COMPARED: Final = re.compile(
    r"(?!.*(?:chunk|context|doc|passage|retriev|search|source).*hit$)"
    r".*(?:correct|match|hit|ok|pass|passed|verdict|check|acceptable)"
)
"""Matches plain names of those that judge an answer: ``category_match``, and no hit of a search (``doc_hit``)."""
NAMED_VERDICT: Final = re.compile(
    r"^(?!must|should|expect|truth|gold|ground|requir|pars|request|api|.*execut|.*cache|human|annotat|expert|review)"
    r".*[a-z0-9]"
    r"(?:[_ .-](?:status|passed|pass|correct|ok|match|hit|verdict)|Status|Passed|Pass|Correct|Ok|OK|Match|Hit|Verdict)$"
    r"|^match(?:es|ed)?_(?:expect|truth|gold)|^(?:is[_ .-]?)?acceptable$"
    r"|^(?:pass|passed|auto|fact|quality|answer|output|judge|llm|eval|final)(?:[_ .-]c|C)heck$"
)
"""Matches names, as written, of verdicts of one judge of several: ``retrievalStatus``, ``answer_correct``,
``matches_expected``, but not ``mustPass``, ``parse_ok``, ``cache_hit`` or ``execution_status``."""
_SAYS: Final = "verdict|judge?ment|pass(?:ed)?|ok|correct|check|grade|rating|score"
PERSON: Final = re.compile(rf"(?i)(?:human|expert|annotator|reviewer)[_ .-]?(?:[0-9]|label|{_SAYS})?")
"""Matches a column with the verdict of a person."""
OF_PERSON: Final = re.compile(rf"(?i)(?:human|expert|annotator|reviewer|rater|manual)[_ .-]?(?:{_SAYS})")
"""Matches a column that by its name has what a person says of an answer, which counts where nobody else judged."""
NO_ANSWERER: Final = re.compile(
    r"(?i)(?:^|[^a-z])(?:(?:judge|annotator|rater|human|reviewer)s?|truth|gold|(?:old|previous)[_ -]label)(?:[^a-z]|$)|"
    r"verdict|judge?ment|evaluat"
)
"""Matches a column of what somebody says of an answer or said before, which the expected label sums up."""
_OF_WHAT: Final = r"(?:_?(?:labels?|class|category|intent|answer|value))?"
OWN_SIDES: Final = {
    "expected": re.compile(rf"(?:(?:ground_?)?truth|gold(?:en)?|expected|true){_OF_WHAT}", re.IGNORECASE),
    "output": re.compile(rf"pred(?:icted)?{_OF_WHAT}", re.IGNORECASE),
}
"""Part -> names of columns of the author's own, such as ``ground_truth_label``."""
SIDES_OF_FIELDS: Final = {
    **dict.fromkeys(("true", "truth", "gold", "gt", "expected"), "expected"),
    **dict.fromkeys(("pred", "predicted", "prediction", "extracted", "actual", "model"), "output"),
    **dict.fromkeys(("ok", "correct", "match"), "checks"),
}
"""Words in the names of columns -> the side of a field that they hold, or the verdict that the file states on it."""
_ANSWER: Final = r"(?:pred|predicted|prediction|response|output|answer)"
ANSWER_OF: Final = re.compile(rf"{_ANSWER}[_. -](.+)|(.+)[_. -]{_ANSWER}", re.IGNORECASE)
"""Matches a column with the answers of a system: ``response_mini``, ``mini_output``."""

MODEL: Final = re.compile(
    r"(?<![a-z0-9])(?<!vs[-_])(?![^/]*[-_]vs[-_])(?:chatgpt|gpt|claude|sonnet|haiku|opus|gemini|gemma|llama|mistral|mixtral|ministral|codestral|qwen|"
    r"deepseek(?:[-.]?[vr][0-9]|chat|coder)?|grok|command-r|phi-?[0-9]|o[1-4]|openai|anthropic|kimi|glm|minimax|devstral|nemotron|"
    r"magistral|amazon-nova|nova-(?:micro|lite|pro))(?![a-z])"
    r"(?:(?!-(?:v|run|round|iter(?:ation)?|exp|experiment|attempt|trial)-?[0-9])[a-z0-9.:@-])*",
    re.IGNORECASE,
)
"""Matches the name of a model, with its own version and date: ``gpt-4o-2024-08-06``, but of ``gpt-4o_v2`` and
``gpt-4o-v2`` only ``gpt-4o``."""


def by_plain_name(names: Iterable[str]) -> dict[str, str]:
    """Return columns or keys by their plain names; the first of those that have the same."""
    by_name: dict[str, str] = {}
    for name in dict.fromkeys(names):
        by_name.setdefault(plain_key(name), name)
    return by_name


def called(by_name: Mapping[str, str], names: Iterable[str]) -> Iterator[str]:
    """Yield the columns that have one of these names, in the order of the names."""
    return (by_name[name] for name in names if name in by_name)


def usual_key(members: Iterable[Mapping[str, object]], names: Iterable[str]) -> str:
    """Return the key, as written, of the first of these names that any member has; empty if there is none."""
    written = by_plain_name(key for member in members for key in member)
    return next(called(written, map(plain_key, names)), "")
