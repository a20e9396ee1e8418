"""Every bound and prediction of the papers as a page shows it, one row each: see `Statement`."""

from __future__ import annotations

from functools import partial

from ldp_core.bounds.closed_form import centred_svd, svd
from ldp_core.bounds.theorems import ranges, scope
from ldp_core.bounds.theorems.scope import over_ranges, variance, with_few_users
from ldp_core.bounds.theorems.statement import KINDS, Setting, Statement

MCKENNA = "McKenna et al. 2020"
LOPUHAA = "Lopuhaä-Zwakenberg et al. 2020"
CORMODE = "Cormode, Kulkarni and Srivastava 2019"
BASSILY = "Bassily 2019"
DUCHI = "Table 1, after Duchi, Jordan and Wainwright 2013"

PURE = "Privacy is pure: no delta."
UNBIASED = (
    PURE,
    "Answers are unbiased and linear in the counts of the reports, as from every mechanism here. Processing them afterwards may add bias.",
    "The error is the average over the people that the design is for; in the worst case, over those for whom the bound is largest.",
)
LARGE_SAMPLE = (
    "The workload is the histogram of the types, or of one column of theirs.",
    "Users grow without limit: with any given number, estimators that lean on what is known beforehand may have smaller errors.",
    "The population is drawn from a continuous prior; the even one stands for priors that gather around it.",
)
COUNTS = (
    r"Counts have the variance $V_F = 4 e^\varepsilon/(e^\varepsilon - 1)^2$ of types that few people have, as those of OUE and OLH do; "
    "HRR's is larger by 1."
)
WHOLE = "The number of types is a power of the branching factor."
FEWEST_NODES = (
    "The mechanism is a tree, every person picks a level evenly, and ranges are answered from the fewest nodes."
)
ALL_RANGES = "The questions are all ranges. Other workloads are treated as the same number of ranges drawn at random."
POPULATION = "The error is that of the answers about the population people are drawn from."
GAUSSIAN = (
    "The mechanism is Gaussian noise.",
    "Privacy is (epsilon, delta), with delta 1e-6 where the design has none.",
)
HADAMARD = "The mechanism is the projected Hadamard response."
GROUPS = (
    "Every query is asked of a group of its own.",
    "The number shown is d times the square of the largest error; the entries of the queries are at most r.",
)
ORDER = (
    POPULATION,
    "Only the order is known: the number is without its constant.",
    "It is about the population that is hardest.",
)


ONE = r"\tfrac{1}{n-1}"
LOGS = rf"\exp\Bigl({ONE} \textstyle\sum_x \mathbb E \log P_x\Bigr),\quad"


def _large_sample(
    error: str, about: str, printed: str, equation: str, sharp: str, covariance: str, known: str
) -> tuple[Statement, ...]:
    """Limits of every estimator of a histogram once there are enough users, biased or not; what they say is ``about`` one of two errors."""
    row = partial(Statement, kind="large_sample", of_population=error == "distribution")
    free = partial(row, assumptions=(PURE, *LARGE_SAMPLE), check=scope.check_pure)
    likely = partial(row, assumptions=LARGE_SAMPLE, check=scope.check_likelihood, costly=True)
    return (
        free(
            f"large_sample_paper_{error}",
            f"Theorem 4.5 (Lopuhaä-Zwakenberg et al.), {error}",
            words="Whatever is sent and however it is read, the squared error of a histogram falls no faster than this over N. The "
            f"theorem of the same number by Cormode et al. is about ranges. {about}",
            latex=rf"N \cdot \mathrm{{MSE}} \gtrsim {printed}",
            source=f"{LOPUHAA}, Theorem 4.5, {equation}",
            compute=partial(scope.protocol_free, error=error, form="paper"),
        ),
        free(
            f"large_sample_sharp_{error}",
            f"Theorem 4.5 (Lopuhaä-Zwakenberg et al.), {error}, sharper",
            words="The same from the spread that the rows of a private strategy can have together. It is stronger where the population "
            f"is not too uneven; where it is, the printed form may be stronger, and both are true. {about}",
            latex=rf"N \cdot \mathrm{{MSE}} \gtrsim {sharp}",
            source=f"this project, from {LOPUHAA}, Corollary 4.3",
            compute=partial(scope.protocol_free, error=error, form="sharp"),
        ),
        likely(
            f"corollary_{error}",
            f"Corollary 4.3 for this mechanism, {error}",
            words=f"However the reports of this mechanism are read, the squared error falls no faster than this. {about}",
            latex=rf"N \cdot \mathrm{{MSE}} \gtrsim n \exp\Bigl({ONE}\, \mathbb E \log\det {covariance}\Bigr)",
            source=f"{LOPUHAA}, Corollary 4.3",
            compute=partial(scope.of_mechanism, name=f"corollary_{error}"),
        ),
        likely(
            f"efficient_{error}",
            f"Efficient estimator, {error}",
            words="The error of maximum likelihood on this mechanism's reports once there are enough users: exact in the limit, so no "
            f"estimator does better on average. {about}",
            latex=rf"N \cdot \mathrm{{MSE}} \to \mathbb E\,\bigl[\mathrm{{tr}}\, M_P^{{-1}}\bigr] - {known}",
            source=f"the Cramér-Rao bound, attained; {LOPUHAA}, Section 4",
            compute=partial(scope.of_mechanism, name=f"efficient_{error}"),
        ),
    )


ERROR, WORST = r"\mathbb E\lVert\mathrm{error}\rVert", r"\mathbb E\max_k \lvert\mathrm{error}_k\rvert"


unbiased = partial(Statement, kind="impossible", assumptions=UNBIASED, check=scope.check_pure)
predicted = partial(Statement, kind="prediction")
crowd = partial(Statement, kind="few_users", of_population=True)
order = partial(crowd, assumptions=ORDER, order_only=True)
STATEMENTS: dict[str, Statement] = {
    statement.name: statement
    for statement in (
        unbiased(
            "svd",
            "SVD bound",
            words="The singular values of the workload say how many different things it asks. The more there are, the larger the "
            "error that every mechanism must have.",
            latex=r"\mathrm{error} \ge \frac{1}{n}\left(\frac{(\sigma_1 + \dots + \sigma_n)^2}{e^{\varepsilon}}"
            r" - \lVert W \rVert_F^2\right)",
            source=f"{MCKENNA}, Theorem 5.6 and Corollary 5.7",
            compute=variance(svd),
        ),
        unbiased(
            "centred_svd",
            "Centred SVD bound",
            words="The same bound without the known part of the workload, the number of people, and with the exact largest variance "
            "of the rows of a private strategy. It is never far from the best mechanism when epsilon is small. $p$ are the shares of the types among "
            "the people that the design is for: $p_u = 1/n$ on average over the types, and in the worst case those for whom the bound is largest.",
            latex=r"\mathrm{error} \ge \lVert W p \rVert^2 + \frac{\lVert W S P \rVert_*^2}{\sinh^2(\varepsilon/2)}"
            r" - \textstyle\sum_u p_u \lVert w_u \rVert^2,\quad S = \sqrt{\mathrm{diag}\,p},\ P = I - \sqrt p \sqrt p^{\,\top}",
            source=f"this project, after {MCKENNA}, Theorem 5.6",
            compute=variance(centred_svd),
        ),
        unbiased(
            "certificate",
            "Certificate",
            words="The strongest bound here, found by an optimiser and proved by numbers that anybody can check again without it. "
            "It lies within a per cent or so of the best strategy there is.",
            latex=r"\mathrm{error} \ge \frac{1}{n}\left(\frac{\mathrm{tr}(C G)^2}{\mathbf 1^{\top}\mu} - \mathrm{tr}\,G\right)"
            r"\quad\text{where}\quad v^{\top} C G C v \le (\mathbf 1^{\top} v)(\mu^{\top} v)"
            r"\ \text{ for all } v \in \{1, e^{\varepsilon}\}^n",
            source=f"this project, on the objective of {MCKENNA}",
            compute=variance(scope.certified),
            check=scope.check_certified,
            costly=True,
        ),
        *(
            row
            for both in zip(
                _large_sample(
                    "distribution",
                    "The error is that of the distribution people are drawn from, so it holds the chance of who takes part.",
                    r"\frac{n}{(e^{\varepsilon} - 1)^2}",
                    "equation (59)",
                    rf"\frac{{n}}{{\lambda}}{LOGS}\lambda = \min\Bigl(\tanh^2\tfrac{{\varepsilon}}{{2}},\ {ONE}\sinh^2\tfrac{{\varepsilon}}{{2}}\Bigr)",
                    "I_P^{-1}",
                    r"\mathbb E \lvert P \rvert^2",
                ),
                _large_sample(
                    "frequency",
                    "The error is that of the shares among the people who take part.",
                    r"\frac{n\, e^{-\varepsilon}}{(e^{\varepsilon} - 1)^2}",
                    "the frequency part (60) re-derived for any number of outputs",
                    rf"n \Bigl(\frac{{1}}{{\lambda}} - 1\Bigr){LOGS}\lambda \text{{ as for the distribution, or }} \tanh^2\tfrac{{\varepsilon}}{{2}}"
                    r" \text{ for } \varepsilon > 1.763",
                    r"\bigl(I_P^{-1} - \Sigma_P\bigr)",
                    "1",
                ),
                strict=True,
            )
            for row in both
        ),
        Statement(
            "worst_from_average",
            "Theorem 5.1 (McKenna et al.), worst type",
            "prediction",
            "Nobody's values make the error larger than this, which follows from the average error alone. It is compared with the "
            "exact error of the worst type.",
            r"\max_u t_u \le e^{\varepsilon} \Bigl(\tfrac1n \textstyle\sum_u t_u + \tfrac1n \lVert W \rVert_F^2\Bigr)",
            f"{MCKENNA}, Theorem 5.1",
            scope.worst_type,
            (PURE, "Answers are unbiased."),
            scope.check_average,
            costly=True,
        ),
        predicted(
            "flat_ranges",
            "Ranges without a tree",
            words="A range summed from single counts has the variance of as many counts as it has types; all ranges have (n + 2)/3 types on "
            "average.",
            latex=r"V_r = r\, V_F, \qquad \overline{V} = \frac{n + 2}{3}\, V_F",
            source=f"{CORMODE}, Fact 1 and Lemma 4.2",
            compute=over_ranges(lambda n, epsilon, B, r: ranges.flat_error(epsilon, r)),
            assumptions=(COUNTS,),
            check=partial(
                scope.check_design, names=scope.FLAT, what="ranges summed from the counts of OUE, OLH or HRR"
            ),
        ),
        predicted(
            "raw_tree_bound",
            "Raw tree, at most",
            words="A range is made up of at most 2 B - 1 nodes on each level it reaches. This bounds every range, short ones by far.",
            latex=r"V_r \le (2B - 1)\, V_F\, h\, (\lceil \log_B r \rceil + 1), \qquad h = \lceil \log_B n \rceil",
            source=f"{CORMODE}, Theorem 4.3, equation (1)",
            compute=over_ranges(ranges.raw_bound),
            assumptions=(COUNTS, FEWEST_NODES),
            check=partial(scope.check_tree, reconstruction="raw"),
        ),
        predicted(
            "raw_tree_average",
            "Theorem 4.5 (Cormode et al.)",
            words="The average error of a range from a tree without consistency (HH_B), as printed. It is no bound: at epsilon up to 1.1 and "
            "256 types exact errors of OUE are 0.27 to 0.37 of it, and with HRR at epsilon 4 they lie above it. The theorem of the same "
            "number by Lopuhaä-Zwakenberg et al. is about histograms.",
            latex=r"\overline{V} \approx 2 (B - 1)\, V_F \log_B n \, \log_B \frac{3 n^2}{1 + 2 n}",
            source=f"{CORMODE}, Theorem 4.5",
            compute=over_ranges(lambda n, epsilon, B, r: ranges.range_error(n, epsilon, B)),
            assumptions=(COUNTS, WHOLE, FEWEST_NODES, ALL_RANGES),
        ),
        predicted(
            "raw_tree_average_corrected",
            "Theorem 4.5 (Cormode et al.), averaged exactly",
            words="The exact average behind the printed form. The last step of the paper's derivation is too large by 46 % at 256 types, and "
            "by 20 % at 65,536.",
            latex=r"\overline{V} \to 2 (B - 1)\, V_F \log_B n \; \frac{\ln n - 3/2}{\ln B}",
            source=f"{CORMODE}, Theorem 4.5, its average re-derived by this project",
            compute=over_ranges(lambda n, epsilon, B, r: ranges.range_error_averaged(n, epsilon, B)),
            # From 4,096 types on the mean of ln r is within 0.001 of its limit.
            assumptions=(COUNTS, WHOLE, ALL_RANGES, "There are many types, say 4,096."),
        ),
        predicted(
            "consistent_tree",
            "Consistent tree",
            words="Least squares over the whole tree. The formula is made for long ranges, where it lies above the exact variance; it says 0 "
            "for single types.",
            latex=r"V_r \approx \frac{B + 1}{2}\, V_F \log_B r \, \log_B n",
            source=f"{CORMODE}, Lemma 4.6 and equation (2)",
            compute=over_ranges(ranges.consistent_error),
            assumptions=(COUNTS, WHOLE),
            check=partial(scope.check_tree, reconstruction="consistent"),
        ),
        predicted(
            "haar",
            "Haar wavelets",
            words="Every range takes two coefficients a level at most. It bounds all ranges up to an epsilon of about 1.9; beyond, the noise of "
            "HRR does not fall as V_F does.",
            latex=r"V_r \le \tfrac12 (\log_2 n)^2\, V_F",
            source=f"{CORMODE}, Section 4.6, equation (3)",
            compute=over_ranges(lambda n, epsilon, B, r: ranges.haar_bound(n, epsilon)),
            assumptions=(COUNTS, "The number of types is a power of two."),
            check=partial(scope.check_design, names=("haar",), what="HaarHRR"),
        ),
        crowd(
            "gaussian_projected",
            "Gaussian noise with projection",
            words="If there are few users, the error of the projected answers grows with the number of queries only through their length.",
            latex=ERROR + r" \le r \min\Bigl(\Bigl(\frac{32 \ln n \ln(2/\delta)}{N \varepsilon^2}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{2 d \ln(2/\delta)}{N \varepsilon^2}\Bigr)^{1/2},\ 1\Bigr)",
            source=f"{BASSILY}, Theorem 3.2 (Algorithm 2)",
            compute=with_few_users("gaussian"),
            assumptions=(
                POPULATION,
                *GAUSSIAN,
                r"The noise has the printed scale, $s^2 = 2 r^2 \ln(2/\delta)/\varepsilon^2$, which does not deliver its delta where types lie "
                "more than r apart.",
            ),
        ),
        crowd(
            "gaussian_projected_sharp",
            "Gaussian noise with projection, corrected",
            words="The printed proof underestimates the largest of n Gaussians, and loses a factor of two elsewhere. The "
            "corrected bound is a little smaller for the same noise.",
            latex=ERROR + r" \le r \min\Bigl(\Bigl(\frac{8 s^2 \ln(2n)}{N r^2}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{d s^2}{N r^2}\Bigr)^{1/2},\ 1\Bigr)",
            source=f"this project, after {BASSILY}, Theorem 3.2",
            compute=with_few_users("gaussian", "sharp"),
            assumptions=(
                POPULATION,
                *GAUSSIAN,
                "The noise is the design's own where it is the Gaussian mechanism, else of the printed scale.",
            ),
        ),
        crowd(
            "rejection_projected",
            "Rejection sampling with projection",
            words="The same with pure privacy, at the price of a larger constant and a logarithm of the users.",
            latex=ERROR + r" \le r \min\Bigl(\Bigl(\frac{280 \ln n \ln N}{N \varepsilon^2}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{10 d \ln N}{N \varepsilon^2}\Bigr)^{1/2},\ 1\Bigr)",
            source=f"{BASSILY}, Theorem 3.4 (Algorithm 4, corrected)",
            compute=with_few_users("rejection"),
            assumptions=(
                POPULATION,
                "There are at least 120 users, and epsilon is at most 1.",
                "The mechanism is rejection sampling.",
            ),
        ),
        crowd(
            "projected_hadamard",
            "Projected Hadamard response",
            words="A histogram projected onto the populations that are possible has an error that hardly grows with the number of types.",
            latex=ERROR + r" \le \min\Bigl(\Bigl(\frac{256 c^2 \ln n}{N}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{4 c^2 n}{N}\Bigr)^{1/2},\ 1\Bigr),\quad c = \frac{e^{\varepsilon} + 1}{e^{\varepsilon} - 1}",
            source=f"{BASSILY}, Theorem 4.2 (Algorithm 5)",
            compute=with_few_users("histogram"),
            assumptions=(POPULATION, HADAMARD),
        ),
        crowd(
            "projected_hadamard_sharp",
            "Projected Hadamard response, sharper",
            words="The same with Hoeffding's constant for the noise and half of what the projection is said to cost.",
            latex=ERROR + r" \le \min\Bigl(\Bigl(\frac{8 c^2 \ln(2n)}{N}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{c^2 n}{N}\Bigr)^{1/2},\ 1\Bigr)",
            source=f"this project, after {BASSILY}, Theorem 4.2",
            compute=with_few_users("histogram", "sharp"),
            assumptions=(POPULATION, HADAMARD),
        ),
        crowd(
            "adaptive",
            "One query each",
            words="Queries may be chosen after seeing the answers to earlier ones, and even the worst answer is this good.",
            latex=WORST + r" \le r \min\Bigl(4 c \sqrt{\frac{d \ln d}{N}},\ 1\Bigr)",
            source=f"{BASSILY}, Theorem 5.2 (Algorithm 6)",
            compute=with_few_users("adaptive"),
            assumptions=(
                POPULATION,
                r"There are at least 2 queries and $8 d \ln N$ users.",
                *GROUPS,
            ),
        ),
        crowd(
            "adaptive_sharp",
            "One query each, from its proof",
            words="The line of the proof that leads to the theorem holds for every number of queries and of users.",
            latex=WORST + r" \le r \min\Bigl(2 c \sqrt{\frac{2 d \ln(2 d)}{N}} + d\, e^{-N/(8 d)},\ 1\Bigr)",
            source=f"{BASSILY}, equation (20)",
            compute=with_few_users("adaptive", "sharp"),
            assumptions=(POPULATION, *GROUPS),
        ),
        order(
            "lower_order_answers",
            "Order that no mechanism beats",
            words="Whatever is sent, for some queries and populations the error is of this order.",
            latex=ERROR + r" \gtrsim r \min\Bigl(\Bigl(\frac{1}{N \varepsilon^2}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{d}{N \varepsilon^2}\Bigr)^{1/2}\Bigr)",
            source=f"{BASSILY}, {DUCHI}, Proposition 3",
            compute=with_few_users("gaussian", "order"),
        ),
        order(
            "lower_order_histogram",
            "Order that no histogram beats",
            words="Whatever is sent, for some population the error of a histogram is of this order.",
            latex=ERROR + r" \gtrsim \min\Bigl(\Bigl(\frac{1}{N \varepsilon^2}\Bigr)^{1/4},"
            r"\ \Bigl(\frac{n}{N \varepsilon^2}\Bigr)^{1/2}\Bigr)",
            source=f"{BASSILY}, {DUCHI}, Proposition 3",
            compute=with_few_users("histogram", "order"),
        ),
        order(
            "lower_order_adaptive",
            "Order that no adaptive answers beat",
            words="Whatever is sent, for some queries the largest error is of this order.",
            latex=WORST + r" \gtrsim r c \sqrt{\frac{d \ln d}{N}}",
            source=f"{BASSILY}, {DUCHI}, Proposition 4",
            compute=with_few_users("adaptive", "order"),
        ),
    )
}
"""All of them by their names, in the order of the kinds."""
WORST_FROM_AVERAGE = STATEMENTS["worst_from_average"]

__all__ = ["KINDS", "STATEMENTS", "WORST_FROM_AVERAGE", "Setting", "Statement"]
