"""Local differential privacy and epsilon in plain words."""

import streamlit as st

from ldp_core import designs
from ldp_core.verdicts import RULE
from pages.ui import guide_tables, layout, listing, promises, say

state = layout.open_page(
    "Guide", "What local differential privacy means, what epsilon buys, and how to read the numbers here."
)

st.markdown(
    """
## The idea
You want to know something about many people, say, how many there are of each age, without learning how old any one of
them is. With **local differential privacy** each person's own device changes the answer at random before sending it. A
single report is deniable; thousands together still tell the truth, because the randomness is known and can be averaged
out. Nobody has to trust the collector.

## Epsilon
Epsilon says how much one report may give away. Whatever somebody believed about you before, your report can change the odds between
any two of your possible values by at most a factor of e to the power of epsilon.
"""
)
listing.show_safe(guide_tables.meanings(), "What epsilon means for one person.")
st.markdown("Smaller is more private, and needs more people for the same accuracy.")
COVERED = """
**An example.** The oldest is a coin. Asked a delicate yes-or-no question, flip a coin: on heads answer truthfully, on tails flip again and
say yes or no by that coin. A "yes" proves little about one person, but the share of yes among thousands reveals the true share.

**Several reports** of one person add up: two reports at epsilon 1 can reveal as much as one at epsilon 2. That is why the Design page asks
how many reports each person will send.

**What is covered** is the report. The promise does not cover the fact that somebody took part, their network address, or when they reported.

**Epsilon and delta.** A few mechanisms make a weaker promise, with which this need not hold for every report. It says that, had your true
value been another, the chance of any conclusion from your report would be at most e to the power of epsilon times as large, plus delta.
"""
WORDS = (
    """
- **Type**: one possible value of a person, for example an age from 20 to 29. The *domain* is the list of all types; their number is *n*.
- **Attribute**: one thing each person reports, such as age; with several, a type is a combination of their values, and the number of types
  is the product of theirs. Many types with few people each make single types noisy; sums over many types stay useful.
- **Workload**: the questions you want answered about everybody. *Histogram* asks for every value, *running totals* (prefix) for everybody
  up to each value, *ranges* for everybody between any two values, *joint counts* (marginals) for the combinations of some attributes,
  *parity* asks whether the number of yes answers is even. A group of questions with weight 2 counts as if it were asked
  four times when errors are added up; the answers themselves are not scaled.
- **Condition**: a question written out, such as `age >= 30 and not (sex = male or city in {Paris, "New York"})`. It knows
  `=`, `!=`, `<`, `<=`, `>`, `>=`, `between ... and ...`, `in {...}`, `and`, `or`, `not` and brackets; names with spaces stand in
  quotes.
- **Mechanism**: how a device turns a value into a report, and how answers are computed from the reports. Compare lists every one, with what it
  was made for and its source. Design takes any other as a file with its probabilities, a strategy matrix, which is audited and compared alike.
- **Strategy**: the table of a mechanism's probabilities, with one row per report and one column per type.
- **Answer**: what was asked for: a count, a share of everybody or of a group, an average, a total, or the difference of two, in its own unit.
  Every number told (error, people needed, verdict) is about that answer.
- **Target**: what an answer is for: a standard error in its unit, or a difference to be found. *Auto* takes for shares a quarter of a typical
  answer (the root mean square of the answers, as a typical error is that of the errors), for averages a tenth of the spread of the values.
- **Usable, rough, noise**: """
    + RULE
    + """
- **People needed** (sample complexity): how many people must report until each question meets its target, in the mean of its squared errors. It is
  that of the question that needs the most; some answers may need more.
- **Standard error**: how far an answer is typically off. "± 2 percentage points" means that about two collections in three land within
  2 points of the truth, and 19 in 20 within 4.
- **Worst case, average case, on this data**: the error depends on the values people really have. The worst case holds
  whatever they are; the average case supposes that all types are equally common; "on this data" uses the data or the
  population you expect.
- **Unbiased**: right on average over many collections. Unbiased counts can be negative; *non-negative* estimates (WNNLS) repair
  that and are closer to the truth in total, but lean towards what is possible.
- **Audited epsilon**: computed from the probabilities the mechanism really uses, as stored, in exact arithmetic and rounded up, rather
  than from the formula behind it. It is what a mechanism *delivers*; epsilon is what you *claim*. A mechanism that
  delivers more than it claims, beyond rounding in the eleventh decimal, is refused.
- **In real numbers only**: said of mechanisms that add Laplace or Gaussian noise. Their guarantee and audit hold in mathematics; a
  computer that draws such noise in floating point does not keep the guarantee.
- **Lower bound** (proved minimum): a number of people below which no unbiased mechanism with this epsilon can work, proved by
  mathematics. The *gap* to it is the most that any better mechanism could still save.
- **Certificate**: nearly always the sharpest of our lower bounds. It carries the numbers that prove it, so anybody can check it again with a few lines
  of linear algebra and without trusting the program that found it; *Check the proof again* on the Design page does so.
- **Rank, singular values**: the rank is how many answers do not follow from the others; a singular value says how much of all answers moves
  together in one way. The more evenly these spread, the more people any mechanism needs.
- **Alpha**: the papers' measure of error, the mean of the squared errors of all answers as shares of people. A target here stands for one.
- **Pure epsilon**: the promise with no delta. **Central epsilon**: what a mixture of many reports says about one person, where somebody else
  mixes them before the collector sees them; it is smaller than the epsilon of a report.
- **Prior, strongest belief, best guess**: what somebody believes of a person before a report, the most that they can believe after it, and how
  often they guess right at best.
- **Occasion**: one of several times at which the same people report, such as a month. Their epsilons add up.
- **Closed-form bounds** (SVD, centred SVD): lower bounds known at once from the questions alone. The SVD bound is the
  one in the literature and is usually 5 to 20 times too low.
- **Optimise for**: the worst case, the average over all types, your people, or a histogram you give. The optimiser makes that error
  small, and people needed, bounds and gaps always refer to the same people.
- **Group of values that share a report**: a report of the best mechanisms says little more than "probably one of these values"; the
  picture of the *patterns* shows which.
- **Estimate**: what is computed from the reports. Unbiased ones are right on average; others use that counts are never negative, that the
  number of people is known, which people explain the reports best (maximum likelihood, posterior mean), or that neighbouring values
  are about equally common (smoothed likelihood, EMS).
"""
)
STEPS = """
1. **Data**: upload a table, pick a sample, or declare the values and the number of people you expect; one attribute or several.
2. **Workload**: choose the questions, in groups, each as important as its weight says.
3. **Design**: choose epsilon and a mechanism. *Optimised* finds very nearly the best one for your
   questions, and proves how close it is.
4. **Simulate**: look at answers you might get.
5. **Export**: take the design with you, as a kit where there is one: its clients draw the reports on people's devices.
6. **Collect**: count the reports that came back, and see the answers beside what was promised.

Beside the way stand **Compare**, which mechanism needs the fewest people, how far each is from what is possible, and what drowns in
noise; **Bounds**, everything the papers prove or predict of your questions on one axis; and **Papers**, their figures made again.
"""
EXAMPLE = """
**The question.** 4,000 people use an app; half of them get a new version. Are more of them satisfied? Say 40 % are satisfied with the
old version and 45 % with the new one: a difference of 5 percentage points.

**What is secret.** The collector chose who gets which version, so that column is *known*: it is sent in the clear, and no part of epsilon is spent on it.
Only *satisfied, yes or no* is protected. At epsilon 1 a device sends the true answer with a chance of 73 %, and the other one with 27 %.

**What comes back.** The difference is right on average, and off by ± 3.03 points. So with 4,000 people a difference of 9.6 points or more
is found (in four trials of five, with a false alarm in one of twenty). To find 5 points it takes 14,700 people; at epsilon 2 it takes
5,380, and at epsilon 0.5 it takes 52,300.

**If the version were secret too**, the error would be ± 3.66 points, and it would take 19,500 people.

**Weights.** A second question shares each report with the first, and both get less exact. A question with weight 2 keeps more of the
report: its squared errors count four times in what is optimised. The answers themselves are not scaled.

**Mixing.** Where the reports of the 2,000 people of a version are mixed by somebody else before the collector sees them, nobody can tell
whose report is whose. What the mixture then says about one person is worth a central epsilon of 0.103 at delta 0.000001, not 1.

**The kit.** Export packs the design for devices: a client in Python and one in JavaScript that draw the reports, a script that audits
the probabilities, the text for the people asked, and the command that counts what comes back. Collect reads the reports and shows the
difference with its interval, beside what was promised here.
"""
with st.expander("What the promise covers, with an example"):
    st.markdown(COVERED)
with st.expander("A worked example: two versions compared"):
    st.markdown(EXAMPLE)
with st.expander("Words used here"):
    st.markdown(WORDS)
with st.expander("How two columns go together"):
    listing.show_table(
        guide_tables.slopes(),
        "Two numbers from 1 to 10 at epsilon 1: each normal around 5.5 with a deviation of 2.25, both with a correlation of 0.5, cut to these values.",
    )
with st.expander("From here to a decision"):
    st.markdown(STEPS)
with st.expander("Limits of this app, and uploaded data"):
    say.markdown(
        "{caveat}\n\n{memory} They are not shared with other sessions, or sent anywhere. {forgetting}\n\n{holding}\n\n"
        "Exports hold the design, not the data; the Export page lists what a design reveals.",
        caveat=designs.DESIGN_ONLY,
        holding=promises.holding(),
        memory=promises.ROWS_IN_MEMORY,
        forgetting=promises.forgetting(),
    )
