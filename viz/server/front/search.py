"""The search of the gallery: whole questions, pasted messages, topics, typing errors.

SQLite's full-text search ranks (BM25, with Porter's stems); a program's fields have weights.  An unknown word is
replaced by the nearest known one.  Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond" (2009); https://sqlite.org/fts5.html.
"""

from __future__ import annotations

import difflib
import re
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from typing_extensions import TypedDict

from viz.server.store import Program

FIELDS = {
    "question": ("Question", 6.0),
    "words": ("About", 6.0),
    "title": ("Title", 4.0),
    "name": ("Name", 4.0),
    "message": ("Message", 4.0),
    "learn": ("You learn", 3.0),
    "chapters": ("Chapter", 1.5),
    "outcome": ("Result", 1.0),
    "source": ("Program", 0.5),
}
"""The fields of a program by their column: their names as people read them in a reason, and the weight of a word in
each."""
MOST = 24
"""The most programs that are shown."""
LONGEST = 60
"""The most different words of a question that count: a pasted traceback has more, and repeats them."""
NEAR = 0.75
"""How similar an unknown word and a known one must be, from 0 to 1, for one to stand for the other."""
SHORT = 4
"""Words of up to this many letters stand for each other only if they have the same letters: `gard` for `grad`, not
`null` for `full`."""
FAR = 0.65
"""The same as `NEAR` for a second search, if the first one found nothing."""
TOPIC = 1.0
"""How much a topic of a program that stands in the question adds to its rank, times the part of the question that the
topic is: the words of "second derivative" together say more than each of them in a long text."""
PREFIX = 3
"""The least letters of a word that is being typed for it to count as the beginning of another one."""
OPEN, CLOSE = "\x01", "\x02"
"""The marks around the words that were found, in a reason."""
IDLE = frozenset(
    re.findall(
        r"\w+",
        """
    a about after all also am an and any are aren as at be because been being but by can cannot could d did didn do
    does doesn doing don few for from get gets getting give gives had happen happens has hasn have having help how i
    if in into is isn it its just like ll m make me more must my need needs no not of on one only or our please point
    pytorch re s same should so some still t than that the their them then there these they this to torch try trying
    up us use used using ve very want was way we were what when where which while who why will with without won work
    working would you your
    """,
    )
)
"""Words that say nothing about the question."""
TABLES = {"stems": "porter unicode61", "plain": "unicode61"}
"""Both are ranked, so that a whole word counts for more than another word of the same stem."""


class Hit(TypedDict):
    """A program that was found; `reason` names the field and `text` is the part of it with the words marked."""

    program: str
    reason: str
    text: str


class SearchAnswer(TypedDict):
    """The answer to a search.

    `instead` pairs each unknown word with the known word used for it; `near` says that no program has the words, and
    the hits are only the nearest.
    """

    hits: list[Hit]
    instead: list[tuple[str, str]]
    near: bool


def words_of(text: str) -> list[str]:
    """The words of a text as the index has them: in lower case, names split into their parts.

    >>> words_of("loss.backward(retain_graph=True)")
    ['loss', 'backward', 'retain', 'graph', 'true']
    """
    return re.findall(r"[^\W_]+", text.lower())


def query_words(question: str) -> list[str]:
    """The words of a question that count, in their order; all of them if none counts.

    >>> query_words("Why is my gradient None?"), query_words("how to do it")
    (['gradient', 'none'], ['how', 'to', 'do', 'it'])
    """
    words = words_of(question)
    return ([word for word in words if not (word in IDLE or word.isdigit())] or words)[:LONGEST]


def names(question: str) -> list[str]:
    """The names of code in a question, as phrases: each counts as one word, whatever its parts are.

    >>> names("Why does torch.where() give nan?")
    ['torch where']
    """
    return [" ".join(words_of(name)) for name in re.findall(r"\w+(?:\.\w+)+", question)][:LONGEST]


class Search:
    """An index of the programs, in memory: built in some milliseconds at the first question, and again for other
    programs."""

    def __init__(self, programs: Callable[[], Sequence[Program]]) -> None:
        self._programs = programs
        self._lock = threading.Lock()
        self._results: list[tuple[str, int]] = []
        self._base = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._base.close)
        self._words: dict[str, set[str]] = {}
        self._phrases: dict[tuple[str, ...], set[str]] = {}  # programs by the question that they answer

    def find(self, question: str) -> SearchAnswer:
        """The programs that answer a question, the best first; for an empty question none."""
        with self._lock:
            self._renew()
            words = query_words(question)
            if not words or not self._results:
                return {"hits": [], "instead": [], "near": False}
            instead = self._instead(words, NEAR)
            hits = self._hits(_meant(words, instead), map(_quoted, names(question)), tuple(words_of(question)))
            if hits:
                return {"hits": hits, "instead": list(instead.items()), "near": False}
            instead = self._instead(words, FAR)
            first = [one for one, _ in self._results[:3]]
            rest: list[Hit] = [{"program": one, "reason": "Begin here", "text": ""} for one in first]
            return {"hits": self._hits(_meant(words, instead)) or rest, "instead": list(instead.items()), "near": True}

    def _renew(self) -> None:
        programs = [program for program in self._programs() if not program.about.get("hidden")]
        key = [(program.id, program.version) for program in programs]
        if key == self._results:
            return
        columns, places = ", ".join(FIELDS), ", ".join("?" for _ in FIELDS)
        for table, tokens in TABLES.items():
            self._base.execute(f"DROP TABLE IF EXISTS {table}")
            self._base.execute(f"DROP TABLE IF EXISTS {table}_words")
            self._base.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(id UNINDEXED, {columns}, tokenize = '{tokens}')"
            )
            rows = [(program.id, *_fields(program)) for program in programs]
            self._base.executemany(f"INSERT INTO {table} VALUES (?, {places})", rows)  # noqa: S608  # names of ours
            self._base.execute(f"CREATE VIRTUAL TABLE {table}_words USING fts5vocab({table}, row)")
            terms = self._base.execute(f"SELECT term FROM {table}_words")  # noqa: S608
            self._words[table] = {term for (term,) in terms}
        self._phrases = {}
        for program in programs:
            for phrase in _phrases(program):
                self._phrases.setdefault(phrase, set()).add(program.id)
        self._results = key

    def _instead(self, words: Iterable[str], alike: float) -> dict[str, str]:
        """For each word that no program has, and that does not begin another one, the nearest known word."""
        vocabulary = self._words["plain"]
        nearest = {}
        for word in words:
            if self._has(_quoted(word)) or (len(word) >= PREFIX and any(one.startswith(word) for one in vocabulary)):
                continue
            near = difflib.get_close_matches(word, vocabulary, n=1, cutoff=alike)
            if near and (len(word) > SHORT or sorted(word) == sorted(near[0])) and word[0] == near[0][0]:
                nearest[word] = near[0]
        return nearest

    def _hits(self, words: Sequence[str], phrases: Iterable[str] = (), typed: tuple[str, ...] = ()) -> list[Hit]:
        """The programs by their rank; those with the `typed` text, or its significant part, as a phrase come first.

        A term that no program has whole may be the beginning of a word.
        """
        terms = [*_terms(words), *phrases]
        match = " OR ".join(term if self._has(term) else f"{term}*" for term in terms)
        weights = ", ".join(str(weight) for _, weight in FIELDS.values())
        ranks: dict[str, float] = {}
        for table in TABLES:
            query = f"SELECT id, bm25({table}, 0, {weights}) FROM {table} WHERE {table} MATCH ?"  # noqa: S608
            for program, rank in self._base.execute(query, (match,)):
                ranks[program] = ranks.get(program, 0.0) + rank  # the lower, the better
        for program, part in self._topics(tuple(words)).items():
            if program in ranks:
                ranks[program] *= 1 + TOPIC * part
        exact = [self._phrases.get(phrase, set()) for phrase in (typed, tuple(words))]
        best = sorted(ranks, key=lambda program: (*(program not in one for one in exact), ranks[program]))[:MOST]
        return [self._reason(program, match) for program in best]

    def _topics(self, words: tuple[str, ...]) -> dict[str, float]:
        """The programs with a topic of several words that stands in a question, and its part of the question."""
        parts: dict[str, float] = {}
        for count in range(2, len(words) + 1):
            for k in range(len(words) - count + 1):
                for program in self._phrases.get(words[k : k + count], ()):
                    parts[program] = count / len(words)  # longer ones come later
        return parts

    def _has(self, term: str) -> bool:
        """Return whether a program has a word with the same stem, or a phrase of such words."""
        return self._base.execute("SELECT 1 FROM stems WHERE stems MATCH ? LIMIT 1", (term,)).fetchone() is not None

    def _reason(self, program: str, match: str) -> Hit:
        """The part of a program's text with the most of these words."""
        query = """SELECT {} FROM stems WHERE stems MATCH ? AND id = ?"""
        parts = ", ".join(f"snippet(stems, {k}, '{OPEN}', '{CLOSE}', '…', 12)" for k in range(1, len(FIELDS) + 1))
        texts = self._base.execute(query.format(parts), (match, program)).fetchone()
        named = list(zip(FIELDS.values(), texts, strict=True))
        (reason, _), text = max(named, key=lambda one: one[1].count(OPEN) * one[0][1])
        return {"program": program, "reason": reason, "text": text}


def _fields(program: Program) -> list[str]:
    """The texts of a program in the order of FIELDS."""
    about = program.about
    card = about.get("card") or {}
    chapters = " · ".join(f"{one['title']}: {one['text']}" for one in about.get("chapters") or [])
    texts = {
        "question": str(about.get("question", program.id)),
        "words": ", ".join(card.get("words", ())),
        "title": str(about.get("title", program.id)),
        "name": program.id,
        "message": " ".join(filter(None, (about.get("says"), about.get("silence")))),
        "learn": card.get("learn", ""),
        "chapters": chapters.replace("**", "").replace("`", ""),
        "outcome": card.get("outcome", ""),
        "source": card.get("source", ""),
    }
    return [texts[field] for field in FIELDS]


def _phrases(program: Program) -> set[tuple[str, ...]]:
    """The question that a program answers: its words, and the significant ones among them."""
    about = program.about
    card = about.get("card") or {}
    texts = [str(text) for text in (about.get("question"), about.get("title"), *card.get("words", ())) if text]
    return {tuple(split(text)) for text in texts for split in (words_of, query_words)}


def _meant(words: Sequence[str], instead: dict[str, str]) -> list[str]:
    return [instead.get(word, word) for word in words]


def _terms(words: Sequence[str]) -> list[str]:
    """The words and the pairs of neighbours, in the form of FTS5."""
    pairs = [f"{one} {other}" for one, other in pairwise(words) if one != other]
    return [_quoted(term) for term in dict.fromkeys([*words, *pairs])]


def _quoted(term: str) -> str:
    return f'"{term}"'
