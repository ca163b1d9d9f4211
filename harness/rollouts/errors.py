"""What can be wrong with a file that is to be imported. Nothing of it is lost silently: it is kept, or one of these says why not.

RolloutError               which file, which line, what to do
 ├─ NotARollout            no session of an agent that can be read
 └─ OtherRecords           under its id another session is kept
"""


class RolloutError(Exception):
    pass


class NotARollout(RolloutError):
    pass


class OtherRecords(RolloutError):
    pass
