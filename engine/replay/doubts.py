"""Why a replay may differ from a fresh run: one sentence for each kind of doubt."""

ESCAPED = (
    "A value that the program read into Python differs from the recording: from this step on the program itself "
    "might take another path."
)
SEEN = (
    "This step uses a tensor that no recorded op made, after a backward call: the replay gives it the values of the "
    "recording, but they might be different now."
)
WROTE = (
    "The program wrote numbers into this tensor without an op, and the tensor holds different values here: the replay "
    "writes the numbers of the recording."
)
PASSED_OVER = "An optimiser skips a parameter that has no gradient here but had one in the recording."
MISSING = "The program finds None here instead of a gradient: it might do something other than stop."
HOOK_GONE = (
    "A hook that ran in the recording does not run here: its other effects are missing, and from this step on the "
    "program itself might take another path."
)
ELSEWHERE = (
    "A hook runs here in a backward call in which it did not run in the recording: the replay repeats what the hook "
    "did in another call, if it was registered by then."
)
NOT_DONE = (
    "The program's own code made a tensor in the recording and does not make it here: the replay uses the recorded one."
)
NONE_GIVEN = "The program's own code receives None here instead of a gradient, or a gradient instead of None."
OTHER_MODE = (
    "The program's own code runs with graph recording on here and off in the recording, or the reverse: it might take "
    "another path."
)
NOT_RECORDED = (
    "the recording has no gradient of {}: its backward is the program's own code, which a replay does not run. Add "
    "this backward call to the program, and record it again."
)
FORWARD = (
    "{} receives different inputs here, and the ops of its forward were not recorded: the replay uses the recorded "
    "outputs."
)
NOT_UNPACKED = (
    "A saved tensor that went through the program's saved-tensor hooks is used here but was not used in the recording: "
    "the replay uses the tensor as saved, as if the hooks returned it unchanged."
)
