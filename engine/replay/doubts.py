"""Why a replay may not be what the program would do: a reason in words for each kind of doubt."""

ESCAPED = (
    "A value that left for Python is another one here than in the recording: from this step on the program itself "
    "might do otherwise."
)
SEEN = (
    "A tensor that no recorded op made comes in here after a backward call: it holds what it held in the recording, "
    "and might hold something else."
)
WROTE = (
    "The program wrote numbers past the recording into a tensor that holds others here: what is written are the "
    "numbers of then."
)
PASSED_OVER = "An optimiser passes over a parameter that has no gradient here, and had one in the recording."
MISSING = "The program meets None here in place of a gradient: it might do otherwise than stop."
HOOK_GONE = (
    "A hook that ran in the recording does not run here: what else it did is not done, and from this step on the "
    "program itself might do otherwise."
)
ELSEWHERE = (
    "A hook runs here in a backward call in which the recording has none of it: what it did in another call is done "
    "again, if it was there by then."
)
NOT_DONE = "A tensor that code of the program's own made in the recording is not made here: it is that of then."
NONE_GIVEN = "Code of the program's own is given None here in place of a gradient, or a gradient in place of None."
OTHER_MODE = (
    "Code of the program's own ran with a graph made of it here and without one in the recording, or the other way "
    "round: it might do otherwise."
)
NOT_RECORDED = (
    "the recording has no gradient of {}: its backward is the program's own code, which a replay does not run. Add "
    "this backward call to the program, and record it again."
)
FORWARD = (
    "{} is given other inputs here, and the recording does not say what its forward did: it returns what it did then."
)
NOT_UNPACKED = (
    "A saved tensor that went through hooks of the program's is used here and was not in the recording: it is what was "
    "saved, as if they gave it back unchanged."
)
