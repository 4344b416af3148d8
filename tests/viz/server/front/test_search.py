"""The search of the gallery: what people type, and what has to be found."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from viz.gallery import gallery
from viz.server.front.search import CLOSE, OPEN, Search, SearchAnswer
from viz.server.programs import gallery_programs

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text("utf-8"))["question"]
TOPICS = tomllib.loads((Path(__file__).parent / "topics.toml").read_text("utf-8"))
STUDENTS = tomllib.loads((Path(__file__).parent / "students.toml").read_text("utf-8"))
PROGRAMS = gallery_programs()


@pytest.fixture(scope="module")
def search() -> Search:
    return Search(lambda: PROGRAMS)


def best(found: SearchAnswer, count: int = 3) -> list[str]:
    return [hit["program"] for hit in found["hits"][:count]]


def test_questions_of_forums_lead_to_their_program_among_the_first_three(search: Search) -> None:
    assert len({question["title"] for question in QUESTIONS}) == 60
    assert {name for question in QUESTIONS for name in question["programs"]} <= {program.id for program in gallery()}
    missed = [
        question["title"]
        for question in QUESTIONS
        if not {*best(search.find(question["title"]))} & {*question["programs"]}
    ]
    assert len(missed) <= 5, missed


def test_topics_names_and_messages_with_other_numbers_lead_to_their_program(search: Search) -> None:
    missed = [typed for typed, wanted in TOPICS.items() if not {*best(search.find(typed))} & {*wanted}]
    assert missed == []


def test_questions_of_students_lead_to_their_program_first_or_second(search: Search) -> None:
    assert len(STUDENTS) > 25
    found = {typed: best(search.find(typed), 2) for typed in STUDENTS}
    assert {typed: first for typed, first in found.items() if not {*first} & {*STUDENTS[typed]}} == {}


def test_topic_within_a_question_counts_for_more_than_its_words(search: Search) -> None:
    assert best(search.find("why does a non-scalar need gradient"), 1) == ["not_scalar"]
    assert best(search.find("how to compute a second derivative"), 1) == ["second_derivative"]


def test_program_that_names_the_very_question_comes_first(search: Search) -> None:
    for program in gallery():
        assert program.id in best(search.find(program.question), 1), program.question
    assert best(search.find("what is requires_grad"), 1) == ["leaf_facts"]


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("rnn", "rnn"),
        ("lstm", "rnn_twenty"),
        ("vanishing", "rnn_twenty"),
        ("mlp", "two_layers"),
        ("vector jacobian product", "weights"),
        ("why is my gradient zero", "half_underflow"),
        ("what does the gradient argument of backward() mean", "weights"),
        ("second order", "second_derivative"),
        ("retain_grpah", "second_backward"),
        ("jacobain", "jacobian"),
        ("accum", "accumulation"),
        ("my loss is nan after a few steps", "infinity"),
        ("why does loss.backward() twice give an error", "second_backward"),
        ("weights do not change after optimizer.step", "scaled_leaf"),
        ("difference between backward and torch.autograd.grad", "stage"),
        ("custom autograd function", "straight_through"),
        ("what happens if I forget zero_grad", "forgotten_zero"),
    ],
)
def test_topics_synonyms_typing_errors_and_beginnings_of_words_are_found(
    search: Search, typed: str, wanted: str
) -> None:
    assert wanted in best(search.find(typed), 4)


def test_message_leads_to_its_mistake_also_with_other_numbers(search: Search) -> None:
    for program in gallery():
        if program.says:
            first = best(search.find(program.says))
            same = {one.id for one in gallery() if one.says == program.says}
            assert same & {*first}, (program.id, first)
    other = "RuntimeError: got 7 tensors and 3 gradients"
    assert best(search.find(other), 1) == ["seed_count"]


def test_each_hit_has_a_reason_with_the_words_in_it(search: Search) -> None:
    for typed in ("retain_graph", "why does my gradient vanish"):
        for hit in search.find(typed)["hits"]:
            assert hit["reason"] and OPEN in hit["text"] and CLOSE in hit["text"]


def test_unknown_words_are_taken_for_the_nearest_and_said_so(search: Search) -> None:
    assert search.find("acumulate")["instead"] == [("acumulate", "accumulate")]
    assert search.find("transfomer layers")["instead"] == [("transfomer", "transformer")]
    assert search.find("retain_graph")["instead"] == []


def test_no_question_leaves_an_empty_page(search: Search) -> None:
    for typed in ("banana", "qqqq", '" OR *', "ü", "x" * 4000):
        assert search.find(typed)["hits"], typed
    assert search.find("qqqq")["near"] and search.find("banana")["near"]
    nothing: SearchAnswer = {"hits": [], "instead": [], "near": False}  # then the page shows the whole gallery
    assert search.find("  ") == search.find("???") == nothing


def test_word_that_is_like_nothing_is_not_taken_for_another(search: Search) -> None:
    for typed in ("asdfghjkl", "Kettenregel"):
        found = search.find(typed)
        assert found["near"] and found["instead"] == [], typed


def test_program_that_is_added_is_found() -> None:
    listed = PROGRAMS[:3]
    search = Search(lambda: listed)
    assert "jacobian" not in best(search.find("jacobian matrix"), 24)
    listed = PROGRAMS
    assert "jacobian" in best(search.find("jacobian matrix"), 2)
