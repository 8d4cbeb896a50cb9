"""A verdict on a capture: who broke which rule, what the other side did then, and what no rule could see.

    verdict = Judgement(VerdictTerms(PROFILES["spec"]))
    for frame in frames:
        verdict.frame(frame)
        for item in pipeline.feed(frame):
            verdict.feed(item, pipeline)
    for item in pipeline.close():
        verdict.feed(item, pipeline)
    report = verdict.report(pipeline)

The pipeline must keep its history (`Options.history`). A report is what JSON has: `judgement` says what is in it.
"""

from zdissect.conformance.judgement import Judgement
from zdissect.conformance.terms import VerdictTerms

__all__ = ["Judgement", "VerdictTerms"]
