"""Extractors: one text of a canvas in, a verdict or None out."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traj_eval.extract import EXTRACTORS, extractor

CHOICE = {
    "The answer is (B).": "B",
    "Answer: **D**": "D",
    "the answer is b.": "B",
    "The correct option is: D": "D",
    "The correct answer is option B, of course": "B",
    "The answer is A because whales are mammals": "A",
    "Answer:\n\nC": "C",
    "Answer: B\nNo, wait. Answer: C": "C",
    r"so $\boxed{\text{(C)}}$": "C",
    "A is wrong, so the answer is D": "D",
    "B": "B",
    "B. Because A is a plant": "B",
    "So (B) it is": "B",
    "**C**": "C",
    "B[MASK][MASK]": "B",
    "A whale is a mammal": None,
    "I think so": None,
    "the answer is a mammal": None,
    "The answer is I think a whale": None,
    "The answer is Because": None,
    "The answer is A's friend": None,
    "The answer is not B": None,
    "The answer is [MASK] B": None,
    "(A) or (B)": None,
    "A) whale\nB) shark\n": None,
    "[MASK] [MASK] [MASK]": None,
    "<|mdm_mask|>": None,
    "": None,
}
NUMBER = {
    "12 + 7 = 19": "19",
    "so $1,234.50 in all": "1234.5",
    "x=-5": "-5",
    "x = −5": "-5",
    "10-5": "5",
    "007": "7",
    "-0.0": "0",
    "1.5e3 m": "1500",
    "1,2,3": "3",
    "1,2345": "2345",
    "the 5th": "5",
    "٤٢": "42",
    "it is 42.[MASK]": "42",
    "12 + 7 = 1[MASK]": None,
    "12 + 7 = [MASK]9": None,
    "12 - 17 = [MASK]-5": None,
    "it is 42<|mdm_mask|>": None,
    "no number": None,
    "": None,
}
BOXED = {
    r"\boxed{1} and then \boxed{ 42 }": "42",
    r"\boxed{\frac{1}{2}}": r"\frac{1}{2}",
    r"\boxed{\{1, 2\}}": r"\{1, 2\}",
    r"\boxed{\{}": r"\{",
    r"\boxed{1} and then \boxed{4": None,
    r"\boxed{4[MASK]}": None,
    r"\boxed{}": None,
    "4": None,
}
YESNO = {
    "Yes, because there is no reason why not": "yes",
    "yes [MASK] [MASK]": "yes",
    "Well. The answer is **No**, since yes men lie": "no",
    "No, wait. Answer: yes": "yes",
    "All in all, no.": "no",
    "No one knows": None,
    "There is no [MASK]": None,
    "[MASK] no [MASK]": None,
    "know": None,
    "": None,
}


@pytest.mark.parametrize(
    ("name", "cases"),
    [("choice", CHOICE), ("number", NUMBER), ("boxed", BOXED), ("yesno", YESNO)],
)
def test_texts(name, cases):
    extract = extractor(name)
    assert {text: extract(text) for text in cases} == cases


def test_pattern():
    assert extractor("regex", r"#(\d+)|= *(\d+)")("1+1= 2;#3;") == "3"
    assert extractor("regex", r"#(\d+)|= *(\d+)")("#3 = 2") == "2"
    assert extractor("regex", r"\d+$")("12 34") == "34"
    assert extractor("regex", r"#(.+)")("#[MASK]4") is None
    assert extractor("regex", r"#( *)")("#  ") is None
    assert extractor("regex", "x")("y") is None


@given(st.sampled_from(sorted(EXTRACTORS)), st.text(alphabet="ABab19.,-() {}\\[MASK]yesno\n"))
def test_any_text_gives_a_clean_verdict_or_none(name, text):
    found = extractor(name)(text)
    assert found is None or (found.strip() == found != "" and "[MASK]" not in found)


def test_extractors_can_be_sent_to_other_processes():
    for extract in (extractor("number"), extractor("regex", "[0-9]")):
        assert pickle.loads(pickle.dumps(extract))("5") == "5"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("letter",), "`name` to be one of choice, number, boxed, yesno, regex, but got 'letter'"),
        (("regex",), "`pattern` to be a regular expression, but got None"),
        (("regex", "("), "`pattern` to be a regular expression, but got '\\('"),
        (("number", "x"), "`pattern` for the extractor regex only, not number"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        extractor(*arguments)
