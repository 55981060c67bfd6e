"""What requests and answers look like: the OpenAPI file is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from stopwise.campaign.spec import MOST_SAMPLES

MOST_TICKETS = 1000
MOST_TELLS = 1000
MOST_ROWS = 500_000
LINE = r"^[^\x00-\x1f\x7f-\x9f]*$"  # without control characters
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=LINE)]
TokenText = Annotated[str, Field(min_length=1, max_length=64)]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Text = Annotated[str, Field(max_length=1000, pattern=LINE)]
Value = Annotated[float, Field(allow_inf_nan=False)]

Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
Arm = Whole | str
Cell = Annotated[str, Field(max_length=1000, pattern=LINE)] | Whole | Value | None


class Form(BaseModel):
    """A request: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewCampaign(Form):
    """Create a campaign; its spec is checked like everywhere."""

    name: Name
    spec: dict[str, Any]


class PreviewWish(Form):
    """A spec, and a guess of each arm's mean; of their standard deviations, if the family has none."""

    spec: dict[str, Any]
    means: Annotated[list[Value], Field(min_length=1, max_length=1000)]
    deviations: Annotated[list[Value], Field(min_length=1, max_length=1000)] | None = None


class PreviewOut(BaseModel):
    """The samples that such a campaign needs, if the means are as guessed: of so many simulated ones."""

    runs: int
    mean: float
    low: float  # 5 % need fewer
    median: float
    high: float  # 5 % need more
    undecided: int
    cost: float | None
    classical: float  # samples of a classical test for these means, looked at once


class Ask(Form):
    """How many tickets, and for how many seconds each."""

    n: Annotated[int, Field(ge=1, le=MOST_TICKETS)] = 1
    lease: Seconds | None = None


class Tell(Form):
    """A ticket's sample."""

    token: TokenText
    value: Value


class Tells(Form):
    """Many tickets' samples: each is taken or refused for itself."""

    tells: Annotated[list[Tell], Field(min_length=1, max_length=MOST_TELLS)]


class Record(Form):
    """A sample that nobody asked for."""

    arm: Arm
    value: Value
    token: TokenText | None = None


class Result(Form):
    """A sample of the past, with a token that makes it safe to repeat."""

    arm: Arm
    value: Value
    token: TokenText


class Records(Form):
    """Many samples that nobody asked for, in the order in which they were begun."""

    records: Annotated[list[Result], Field(min_length=1, max_length=MOST_TELLS)]


class ImportRows(Form):
    """Results of the past: rows of an arm, a value and, if so said, an identity and a time."""

    source: Name
    rows: Annotated[list[list[Cell]], Field(min_length=1, max_length=MOST_ROWS)]
    id: bool = False
    time: bool = False
    in_order: bool = False
    new: bool = False


class ImportOut(BaseModel):
    """What came of them: all of them are on record."""

    rows: int
    new: int
    known: int
    counted: int
    order: str
    seed: str
    decision: dict[str, Any] | None


class Release(Form):
    """The sample will not come."""

    token: TokenText
    reason: Text = ""


class Heartbeat(Form):
    """More time."""

    token: TokenText
    lease: Seconds | None = None


class Nothing(Form):
    """Nothing more to say."""


class Pause(Form):
    """Why, for the record."""

    reason: Text = ""


class Close(Form):
    """Why there is no answer."""

    reason: Annotated[Text, Field(min_length=1)]


class Rename(Form):
    """The new name."""

    name: Name


class Note(Form):
    """What to remember."""

    text: Annotated[Text, Field(min_length=1)]


class Change(Form):
    """What is to change; a budget of null is no limit."""

    budget: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] | None = None
    minimum: Annotated[int, Field(ge=0, le=MOST_SAMPLES)] = 0
    labels: dict[str, Name] = {}
    losses: Literal["worst case", "at random"] = "worst case"


class NewArm(Form):
    """The new arm's label."""

    label: Name


class Added(BaseModel):
    """The new arm's number."""

    arm: int


class Changed(BaseModel):
    """Whether anything had to be changed."""

    changed: bool


class Expired(BaseModel):
    """How many leases were over."""

    expired: int


class Problem(BaseModel):
    """Why a request was refused."""

    error: str
    message: str
    decision: dict[str, Any] | None = None


class TicketOut(BaseModel):
    """Permission to take one sample."""

    token: str
    arm: int
    label: str
    item: int | None = None  # of a paired campaign


class ReceiptOut(BaseModel):
    """A told value is on record, and safe."""

    number: int
    token: str
    arm: int
    value: float
    late: bool
    decided: bool
    waiting: bool


class TellOut(BaseModel):
    """One of many: the receipt, or why it was refused."""

    receipt: ReceiptOut | None
    problem: Problem | None


class Done(BaseModel):
    """Whether the sample was still in flight."""

    done: bool


class EventOut(BaseModel):
    """One line of the record."""

    number: int
    kind: str
    token: str
    arm: int | None
    value: float | None
    time: float
    late: bool
    note: str
    actor: str


class Brief(BaseModel):
    """A campaign at a glance."""

    name: str
    state: str
    samples: int
    in_flight: int
    evidence: float | None
    threshold: float | None
    leading: str | None
    archived: bool
    decision: str | None
    created: float  # seconds since 1970
    active: float | None  # when the last event was; None: there is none
    problem: str = ""  # why the campaign cannot be opened


class Health(BaseModel):
    """Whether the service is there, and can work."""

    status: str
    version: str
