"""Known scales come in their own order, whoever wrote them; other categories come as in a dictionary."""

import random

import pandas as pd
import pytest

from ldp_core import workloads
from ldp_core.data import tables
from ldp_core.data.columns import parse
from ldp_core.data.scales import arranged, is_no_answer
from ldp_core.data.tables import CategoricalRecipe

SCALES = """
Under 18 | 18-24 | 25-34 | 35-44 | 45-54 | 55-64 | 65+
<18 | 18–24 | 25–34 | 35–49 | ≥50
18 to 24 | 25 to 34 | 35 to 44 | 75 or older
Less than 10k | 10k-50k | 50k-100k | 100k or more
less than $10,000 | $10,000 - $19,999 | $20,000 - $99,999 | $100,000 - $149,999 | $150,000 or more
Under $25k | $25k–$50k | $50k–$100k | $100k–$1m | Over $1m
0-9% | 10-19% | 20%-29% | 100%
0 | 1 | 2 | 3 or more
None | 1-2 | 3-5 | 6-10 | more than 10
No children | 1 child | 2 children | 3 or more children
Never | 1-2 times | 3-5 times | 6-9 times | 10 or more times
Less than 1 month | 1-6 months | 6-12 months | 1-2 years | 3-5 years | More than 5 years
less than a year | 1-3 years | 4-9 years | 10+ years
Under 30 minutes | 30-60 minutes | 1-2 hours | over 2 hours
(0, 5] | (5, 10] | (10, 100]
[0,100) | [100,200) | [200,1000)
-10 to -5 | -5 to 0 | 0 to 5 | > 5
unter 18 Jahre | 18 bis 24 Jahre | 25 bis 64 Jahre | 65 Jahre und älter
moins de 1 000 € | 1 000 à 1 999 € | 2 000 à 10 000 € | plus de 10 000 €
Menos de 18 años | 18 a 24 años | 25 a 64 años | 65 años o más
meno di 18 anni | da 18 a 24 anni | da 25 a 64 anni | oltre 64 anni
before 1950 | 1950-1969 | 1970-1989 | 1990 or later
Jan | Feb | Mar | Apr | May | Jun | Jul | Aug | Sep | Oct | Nov | Dec
January | February | March | April | May | June | July | August | September | October | November | December
januar | februar | märz | april | mai | juni | juli | august | september | oktober | november | dezember
janv. | févr. | mars | avr. | mai | juin | juil. | août | sept. | oct. | nov. | déc.
enero | febrero | marzo | abril | mayo | junio | julio | agosto | septiembre | octubre | noviembre | diciembre
gen | feb | mar | apr | mag | giu | lug | ago | set | ott | nov | dic
Mon | Tue | Wed | Thu | Fri | Sat | Sun
MONDAY | TUESDAY | WEDNESDAY | THURSDAY | FRIDAY | SATURDAY | SUNDAY
Mo | Di | Mi | Do | Fr | Sa | So
lundi | mardi | mercredi | jeudi | vendredi | samedi | dimanche
lunes | martes | miércoles | jueves | viernes | sábado | domingo
lunedì | martedì | mercoledì | giovedì | venerdì | sabato | domenica
XS | S | M | L | XL | XXL
small | medium | large
Never | Rarely | Sometimes | Often | Always
nie | selten | manchmal | oft | immer
jamais | rarement | parfois | souvent | toujours
nunca | casi nunca | a veces | casi siempre | siempre
mai | raramente | a volte | spesso | sempre
Strongly disagree | Disagree | Neither agree nor disagree | Agree | Strongly agree
Strongly Disagree | Somewhat Disagree | Neutral | Somewhat Agree | Strongly Agree
Disagree strongly | Disagree somewhat | Undecided | Agree somewhat | Agree strongly
1 - Strongly disagree | 2 - Disagree | 3 - Neutral | 4 - Agree | 5 - Strongly agree
Strongly disagree (1) | Disagree (2) | Neutral (3) | Agree (4) | Strongly agree (5)
1 = Never | 2 = Rarely | 3 = Often | 10 = Always
stimme überhaupt nicht zu | stimme eher nicht zu | teils/teils | stimme eher zu | stimme voll und ganz zu
trifft gar nicht zu | trifft eher nicht zu | trifft eher zu | trifft voll zu
pas du tout d'accord | plutôt pas d'accord | ni d'accord ni pas d'accord | plutôt d'accord | tout à fait d'accord
totalmente en desacuerdo | en desacuerdo | ni de acuerdo ni en desacuerdo | de acuerdo | totalmente de acuerdo
completamente in disaccordo | in disaccordo | né d'accordo né in disaccordo | d'accordo | completamente d'accordo
Low | Medium | High
Very low | Low | Moderate | High | Very high
niedrig | mittel | hoch
faible | moyen | élevé
bajo | medio | alto
basso | medio | alto
Very dissatisfied | Dissatisfied | Neutral | Satisfied | Very satisfied
Extremely dissatisfied | Somewhat dissatisfied | Neither satisfied nor dissatisfied | Somewhat satisfied | Extremely satisfied
Not at all satisfied | Slightly satisfied | Moderately satisfied | Very satisfied | Completely satisfied
sehr unzufrieden | unzufrieden | weder noch | zufrieden | sehr zufrieden
pas du tout satisfait | plutôt pas satisfait | plutôt satisfait | très satisfait
muy insatisfecho | insatisfecho | neutral | satisfecho | muy satisfecho
Poor | Fair | Good | Very good | Excellent
very poor | poor | average | good | excellent
Not at all important | Slightly important | Moderately important | Very important | Extremely important
Very unlikely | Unlikely | Neutral | Likely | Very likely
Much worse | Somewhat worse | About the same | Somewhat better | Much better
Not at all | A little | Somewhat | Quite a bit | Very much
Mild | Moderate | Severe
Less than once a month | Once a month | Several times a month | Once a week | Several times a week | Daily
Definitely not | Probably not | Maybe | Probably | Definitely
High school | Some college | Bachelor's degree | Master's degree | Doctorate
Less than high school | High school diploma | Bachelor’s degree | PhD
Q1 2023 | Q2 2023 | Q3 2023 | Q4 2023 | Q1 2024
Dec 2023 | Jan 2024 | Feb 2024 | Oct 2024
Beginner | Intermediate | Advanced | Expert
Strongly oppose | Somewhat oppose | Somewhat support | Strongly support
Too little | About right | Too much
Very difficult | Difficult | Easy | Very easy
First | Second | Third | Fourth
Freshman | Sophomore | Junior | Senior
Bronze | Silver | Gold | Platinum
Very uncomfortable | Uncomfortable | Comfortable | Very comfortable
64GB | 128GB | 256GB | 1TB
500k | 1m | 2m
Decreased a lot | Decreased a little | Stayed the same | Increased a little | Increased a lot
1 room | 2 rooms | 10 rooms
Once | Twice | Three times | Four or more times
Fair | Good | Excellent
Not at all confident | Slightly confident | Moderately confident | Quite confident | Extremely confident
Much less | Less | About the same | More | Much more
0 days | 1-2 days | 3-7 days | 8-14 days | 15+ days
Under 1 hour | 1 to 2 hours | 3 to 5 hours | More than 5 hours
1 star | 2 stars | 3 stars | 4 stars | 5 stars
1st | 2nd | 3rd | 4th
I | II | III | IV | V | VI | IX
Underweight | Normal weight | Overweight | Obese
Never | Sometimes | About half the time | Most of the time | Always
None at all | A little | A moderate amount | A lot | A great deal
Far below average | Somewhat below average | Average | Somewhat above average | Far above average
Extremely bad | Somewhat bad | Neither good nor bad | Somewhat good | Extremely good
Low risk | Medium risk | High risk
Low income | Lower middle income | Middle income | Upper middle income | High income
No pain | Mild pain | Moderate pain | Severe pain
Under £10,000 | £10,000–£19,999 | £20,000+
€0–€500 | €501–€1,000 | > €1,000
<1k | 1k-5k | 5k-10k | >10k
1-9 employees | 10-49 employees | 50-249 employees | 250+ employees
One | Two | Three | Four or more
18 or younger | 19-25 | 26 and up
20s | 30s | 40s | 50s | 60+
Nada | Poco | Algo | Bastante | Mucho
Pas du tout | Un peu | Moyennement | Beaucoup | Énormément
Gar nicht | Wenig | Mittelmäßig | Ziemlich | Sehr
Per niente | Poco | Abbastanza | Molto | Moltissimo
Per niente d'accordo | Poco d'accordo | Abbastanza d'accordo | Molto d'accordo
Muy en desacuerdo | En desacuerdo | Neutral | De acuerdo | Muy de acuerdo
Too cold | Just right | Too hot
1: Never | 2: Rarely | 3: Sometimes | 4: Often
(1) Very low | (2) Low | (3) High
Very Poor (1) | Poor (2) | Good (3) | Very Good (4)
never | once | twice | three or more times
Less than 5 minutes | 5–10 minutes | 11–30 minutes | 31–60 minutes | Over an hour
< 6 months | 6 months - 1 year | 1-2 years | > 2 years
up to 3 | 4-6 | 7 or more
Aug 2023 | Sep 2023 | Jan 2024
2023-Q4 | 2024-Q1 | 2024-Q2
Thursday | Friday | Saturday | Sunday
Sep | Oct | Nov
Extra Small | Small | Medium | Large | Extra Large
Strongly Disapprove | Disapprove | Approve | Strongly Approve
not likely at all | somewhat likely | very likely
Completely false | Mostly false | Mostly true | Completely true
hardly ever | some of the time | often
decreased significantly | decreased slightly | no change | increased slightly | increased significantly
Completely Disagree | Mostly Disagree | Slightly Disagree | Slightly Agree | Mostly Agree | Completely Agree
Not satisfied at all | Not very satisfied | Fairly satisfied | Very satisfied
18-29 yrs | 30-49 yrs | 50-64 yrs | 65 yrs and over
$0 | $1 to $9,999 | $10,000 to $24,999 | $25,000 or more
Below 100 | 100-199 | 200 and above
0-4 | 5-9 | 10-14 | 100+
1-Very bad | 2-Bad | 3-OK | 4-Good
Sehr schlecht | Eher schlecht | Eher gut | Sehr gut
weniger als 1.000 € | 1.000 bis 1.999 € | 2.000 bis 4.999 € | mehr als 5.000 €
wöchentlich | täglich | mehrmals täglich
"""
OTHERS = """
blue | green | red
Berlin | Paris | Rome
A1 | B2 | C10
v1.2 | v1.10
9:15 | 10:30
Female | Male | Other
3 Elm St | 12 Oak Rd
Bus | Car | Train
Asian | Black | Mixed | White
+49 30 123 | +49 40 11
"""


@pytest.mark.parametrize("line", SCALES.strip().splitlines())
def test_known_scales_come_in_their_own_order(line):
    scale, shouted = tuple(line.split(" | ")), tuple(line.upper().split(" | "))
    mixed = random.Random(line).sample(range(len(scale)), len(scale))
    assert arranged([scale[i] for i in mixed]) == (scale, (), ())
    found = arranged([*(shouted[i] for i in mixed), "Don't know", "99 - Prefer not to say"])
    assert found == (shouted, (), ("99 - Prefer not to say", "Don't know"))


@pytest.mark.parametrize(
    ("line", "unplaced"),
    [
        *((line, line) for line in OTHERS.strip().splitlines()),
        ("Low | Medium | High | Berlin", "Berlin"),
        ("a | b or c | c", "a | b or c | c"),
    ],
)
def test_what_is_on_no_scale_comes_as_in_a_dictionary_and_last(line, unplaced):
    texts = tuple(line.split(" | "))
    assert arranged(texts[::-1]) == (texts, tuple(unplaced.split(" | ")), ())


@pytest.mark.parametrize(
    "text", ["Don’t know", "I'd rather not say", "9 - Refused", "Weiß nicht", "Ne sait pas", "NS/NC", "Non so"]
)
def test_texts_that_give_no_answer(text):
    assert all(map(is_no_answer, [text, text.upper()]))
    assert not any(map(is_no_answer, ["No", "Nothing", "DK", "Not working", "Undecided", "know", "A" + text]))


def test_categories_without_an_answer_have_no_place_in_an_order():
    column = parse(pd.Series(["Often", "Don't know", "Never"], name="x"))
    plain, ordered = (tables.build_attribute(CategoricalRecipe(column="x", ordered=on), column) for on in (None, True))
    assert plain.values == ordered.values == ("Never", "Often", "Don't know")
    assert (plain.special, ordered.special, ordered.apart) == (0, 1, ("Don't know",))
    prefixes = [workloads.PrefixPart(attribute="x")]
    assert workloads.over_attributes(prefixes, [ordered]).matrix.tolist() == [[1, 0, 0], [1, 1, 0]]


@pytest.mark.parametrize(
    ("cells", "said", "listed"),
    [
        (["red", "blue"], '"blue", "red" in x stand in the order of the alphabet, since no other is known here.', True),
        (["Low", "High", "Medium", "b"], '"b" in x stands in the order of the alphabet, after the others', True),
        (["Low", "High", "Refused"], '"Refused" in x gives no answer and stands apart, at the end', False),
        (["Low", "High"], None, None),
        (["10", "9"], None, None),
    ],
)
def test_an_order_that_is_only_that_of_the_alphabet_is_said_beside_yes(cells, said, listed):
    column = parse(pd.Series(cells, name="x"))
    assert tables.doubts_of(CategoricalRecipe(column="x"), column) == ()
    found = tables.doubts_of(CategoricalRecipe(column="x", ordered=True), column)
    assert [doubt.listed for doubt in found] == ([] if said is None else [listed])
    assert said is None or found[0].said.startswith(said)
    by_hand = CategoricalRecipe(column="x", ordered=True, categories=tuple(sorted(cells, reverse=True)))
    assert not any(doubt.listed for doubt in tables.doubts_of(by_hand, column))
