"""How the numbers of each page are computed: formulas, typeset, with their sources. Long ones stand on lines of their own."""

from pages.ui import say

DATA = say.text(r"""
Each person has exactly one of the $n$ types: a combination of one value of each attribute. The histogram is the data vector $x$ of
the papers: $x_u$ users are of type $u$ (McKenna et al. 2020, Section 2.1).

Types are numbered with the last attribute running fastest. Bins include their lower edge; the last also includes its upper edge. Cells
that are empty or read NA, N/A, NaN, null, none or ? are missing values.
""")

_BOUNDS = say.text(r"""
**Bounds.** With $\sigma$ the singular values of $W$ and $\lVert\cdot\rVert_*$ their sum, every mechanism has (McKenna et al. 2020,
Theorem 5.6)

$$
L \ge e^{-\varepsilon} \Big(\sum_i \sigma_i\Big)^2
$$

Sharper are the centred bound (scaled to mean one, a report's probabilities have variance at most $\sinh^2(\varepsilon/2)$ over the types)

$$
L \ge \tfrac{1}{n}\lVert W \mathbf{1}\rVert^2 + \frac{\lVert W (I - \tfrac{1}{n}\mathbf{1}\mathbf{1}^\top)\rVert_*^2}{\sinh^2(\varepsilon/2)}
$$

and the certificate, which solves a relaxation of the best mechanism (the second moments of two-valued rows) and proves its value by duality,

$$
L \ge \frac{\operatorname{tr}(C G)^2}{\mathbf{1}^\top \mu} \quad\text{whenever}\quad v^\top C G C v \le (\mathbf{1}^\top v)(\mu^\top v)
$$

for every two-valued row $v$, which one factorisation of a matrix checks, rounding included (both derived in this project). The worst case
is the largest over all spreads of people. A bound on $L$ gives $(L - \operatorname{tr} G)/(n\,p\,\alpha)$ users.
""")
"""The lower bounds, told alike on every page."""

WORKLOAD = (
    say.text(r"""
**The questions** are a matrix $W$ with one row per query and one column per type; the answers are $W x$. A group with weight $w$ has
its rows multiplied by $w$, so its squared errors count $w^2$ times. Variances and bounds depend on $W$ only through the Gram matrix
$G = W^\top W$ (McKenna et al. 2020, Section 2.1), which is known in closed form or as a product over the attributes for everything but
conditions and uploaded matrices.

**Rank and singular values** are those of $W$.

""")
    + _BOUNDS
    + say.text(r"""
**Surveys.** Questions about a few columns at a time are never written out over the types. With $P_A$ the projection onto what varies
with exactly the columns of a set $A$, of dimension $d_A$, tables of counts have (derived in this project)

$$
G = \sum_A g_A P_A, \qquad g_A = n \sum_{B \supseteq A} \frac{w_B^2}{n_B}
$$

with $n_B$ the cells of a table; the centred bound is $g_\emptyset + (\sum_A d_A \sqrt{g_A})^2 / \sinh^2(\varepsilon/2)$, and information spread
over the sets in proportion to $d_A \sqrt{g_A}$ has the smallest error.
""")
)

DESIGN = (
    say.text(r"""
**Privacy.** Epsilon-LDP means, for every report $y$ and any two types $u$ and $v$ (McKenna et al. 2020, Definition 2.4),

$$
P(y \mid u) \le e^\varepsilon\, P(y \mid v)
$$

The audit takes the largest such ratio over the numbers as stored, in exact arithmetic, and rounds up; for continuous noise it is a
formula in real numbers, which no sampler in floating point keeps.

**Variance.** With $D$ the diagonal matrix of the row sums of the strategy $Q$, and

$$
M = Q^\top D^{-1} Q, \qquad R = M^{-1} Q^\top D^{-1},
$$

one user of type $u$ adds (same paper, Theorems 3.4 and 3.10)

$$
t_u = \sum_y Q_{yu}\, \lVert W R_y \rVert^2 - G_{uu}
$$

**People needed** (sample complexity) are $\max_u t_u / (p\,\alpha)$ for $p$ queries (Corollary 5.4); $\alpha$ is the mean squared error
aimed at, the square of the target error.

**Gap.** People needed divided by those the bound allows, less 1, both for the same people: the worst type against a bound that is
the largest over all priors, and average against average, which with $L = \operatorname{tr}(M^{-1} G)$ is

$$
\frac{L - \operatorname{tr} G}{L_{\text{bound}} - \operatorname{tr} G} - 1
$$

""")
    + _BOUNDS
    + say.text(r"""
**Optimiser.** The best strategy is a measure over two-valued rows and the problem is convex: new rows by pricing, weights by
majorisation. For the worst case the prior moves until no type is worse off.

""")
)

DETECTION = say.text(r"""
**Difference to detect.** Reports of two groups with shares $p$ of the types, of $N_1$ and $N_2$ people, find a difference $d$ in the
answer $w$ at a two-sided level $a$ with the power $b$ where, to the first order,

$$
d = (z_{1-a/2} + z_b)\sqrt{V_1/N_1 + V_2/N_2}, \qquad V = \sum_x p_x\, \mathrm{E}[A^2 \mid x] - (w^\top p)^2
$$

with $A$ what a report adds to the answer and $z$ the quantiles of the normal distribution. $V$ is exact, and holds the chance of who is
drawn. One group is the people of the design, and the answer of the other has moved by $d$, its $V$ with it; the estimated error is larger where the
difference is, which the second order counts. $N$ is that of the group, and of the way up or down, that takes more people.
""")

COMPARE = (
    say.text(r"""
**People needed** is the sample complexity (McKenna et al. 2020, Corollary 5.4)

$$
\frac{\max_u t_u}{p\,\alpha}
$$

with $t_u$ the variance one person of type $u$ adds over all $p$ queries.

""")
    + _BOUNDS
    + say.text(r"""
**Gap**: people needed divided by those the bound allows, less 1, for the same people.

**Right guesses**: whoever sees one report, knows the mechanism and how the people of the design are spread, and names the likeliest value,
is right with the chance

$$
\sum_y \max_u p_u\, P(y \mid u)
$$

**Broken lines over epsilon**: the two Theorems 4.5 are about averages, of ranges from a tree (Cormode et al. 2019) and of a histogram with
many users (Lopuhaä-Zwakenberg et al. 2020). Theorem 5.1 (McKenna et al. 2020) is the most that the worst type can need, given the average
of the design's own mechanism.

**Verdicts.** {rule} Variances refer to unbiased estimates; non-negative ones are compared by simulation.
""")
)

SIMULATE = say.text(r"""
Each trial draws the tally of all reports exactly, type by type, never user by user: its distribution is the one real reports would have.
All estimates see the same reports.

**Unbiased**: $\hat x = R\,y$, with the optimal reconstruction $R$ (McKenna et al. 2020, Theorem 3.10).

**WNNLS** (same paper, Appendix A), solved exactly:

$$
\operatorname*{{arg\,min}}_{{x \ge 0}}\; (x - \hat x)^\top G\, (x - \hat x)
$$

**Norm-Sub**: the closest $x \ge 0$ that sums to the number of users (Wang et al. 2020).

**Posterior mean**: shares $p$ have a Dirichlet prior of parameters $\alpha$: $1/2$ for every type (Jeffreys), plus earlier
counts where there are any. With $F$ the posterior mean of the shares of these $N$ people, by Gibbs sampling, that of the distribution is
$(\alpha + N F) / (\sum \alpha + N)$ (Lopuhaä-Zwakenberg et al. 2020).

**New people each trial**: $N$ people are drawn from shares $P$, and a query $w$ has the further variance
$N (\sum_u P_u w_u^2 - (w^\top P)^2)$ in its error.

**Observed error**: the root of the mean squared error over queries and trials; its standard error by the delta method.

**Value error**: distance of the private quantile from the true one; **quantile error**: how far the share asked for is from the shares of
users below and up to the private quantile (Cormode et al. 2019, Section 4.7); private quantiles are found by bisection on the private
running totals.

**Intervals**: for each query by a method that suits the number of people, named below the picture and in the file. *Exact*: the reports
counted are a sum of two binomials, inverted as Blaker (2000) does, or the sum of noise whose law is known. *Normal*: the answers from which the
estimate is at most 1.96 standard errors away, each with the variance that goes with it (Wilson 1927), where no part of a report weighs more than
{part} of a standard error; checked against exactly computed coverages. *Bounded*: Bennett's inequality (Hoeffding
1963, Theorem 3) with the largest variance any population can have; proven for any number of people. All are cut off at what this many
people can answer. With new people each trial they are for the population: per report the variance is $\sum_u P_u\, \mathrm{{E}}[A^2 \mid u] - (w^\top P)^2$,
with $A$ what it adds to the answer. *Credible*: the central 95 % of draws from the posterior distribution.

**Within groups**: a share or an average is a sum $a$ over the people of a group by their number $b$. Of a known group the interval is that of $a$, by $b$.
Where $b$ is estimated too, it holds all $\rho$ with $(\hat a - \rho\,\hat b)^2 \le z^2 \operatorname{{Var}}(\hat a - \rho\,\hat b)$, z = 1.96 (Fieller 1954): no
interval where the group may have nobody. Differences are those of Zou (2007); the error predicted is that of $(\hat a - \rho\,\hat b)/b$.
""")

COLLECT = say.text(r"""
**Answers** are those of the people who reported, or of a population with $N_z$ people in each known group $z$, where every one of its $n_z$
reports counts $N_z/n_z$ times. The unbiased one adds up what each report says, $\hat x = R\,y$, with $y$ how often each
report came; other estimates start from it, or from the likelihood of $y$, as on Simulate.

**One look**: for each query by a method that suits the number of reports, as under “Intervals” on Simulate; shares and averages as under “Within
groups” there.

**Whenever one looks**: Doob's inequality makes every bound on the exponential moments of an error one on its maximum over time (Freedman
1975); time is cut into epochs, each of twice as many people as the one before, and the chance of {chance} to be wrong is shared
out among them (Howard et al. 2021).

**For the population that they were drawn from**: a report has the variance $\sum_u P_u\, \mathrm{{E}}[A^2 \mid u] - (w^\top P)^2$, with $A$ what it adds to
the answer and $P$ the shares of the types, so that the chance of who took part is counted. Which group people are in is chance too, unless
its people are stated.

**Promised**: the standard error of the unbiased answer if all had the values that make it largest.

**Forged reports**: a report adds $r_q$ to the answer to a query $q$, and an honest one $w_{{q,v}}$ on average. One forged report moves the answer
by at most $\max_{{r,v}} |r_q - w_{{q,v}}|$. The stronger the privacy, the farther that is (Cheu, Smith and Ullman 2021).
""")
