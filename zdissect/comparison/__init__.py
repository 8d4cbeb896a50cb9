"""Two captures of the same session compared: what one implementation, or release, says otherwise than the other.

    recordings = []
    for frames in (first, second):
        pipeline, recording = Pipeline(Options(history=True)), Recording()
        for frame in frames:
            recording.frame(frame)
            for item in pipeline.feed(frame):
                recording.feed(item)
        for item in pipeline.close():
            recording.feed(item)
        recordings.append(recording.sessions_of(pipeline))
    report = compare(*recordings)

A report is what JSON has: `differences` says what is in it.
"""

from zdissect.comparison.differences import compare
from zdissect.comparison.recording import Recording

__all__ = ["Recording", "compare"]
