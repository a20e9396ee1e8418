"""Make the sample data sets: `python sample_data/make.py` writes the same bytes every time.

Only uniform random numbers are drawn, and turned into categories and quantities by inverse distribution functions: the
uniform stream of a seeded generator is stable across versions of NumPy where its other distributions need not be.
All people are invented; shares are plausible, not measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

FOLDER = Path(__file__).parent


def pick(rng: np.random.Generator, shares: dict[str, float], rows: int) -> np.ndarray:
    """(rows,) categories drawn with the given weights."""
    cumulative = np.cumsum(list(shares.values()))
    return np.array(list(shares), dtype=object)[
        np.searchsorted(cumulative, rng.random(rows) * cumulative[-1], side="right")
    ]


def normal(rng: np.random.Generator, rows: int) -> np.ndarray:
    """(rows,) standard normal numbers."""
    return ndtri(rng.random(rows))


def ranked(rng: np.random.Generator, shares: dict[str, float], trait: np.ndarray, strength: float) -> np.ndarray:
    """(rows,) categories with the given weights, later ones for people with more of a ``trait``: (rows,) standard normal numbers,
    with which the rank of the category is correlated by ``strength``."""
    rank = ndtr(strength * trait + np.sqrt(1 - strength**2) * normal(rng, len(trait)))
    cumulative = np.cumsum(list(shares.values()))
    return np.array(list(shares), dtype=object)[np.searchsorted(cumulative[:-1], rank * cumulative[-1], side="right")]


def survey_ages() -> pd.DataFrame:
    """A young and an older wave of respondents, 18 to 90, few past 80."""
    rng, rows = np.random.default_rng(1), 3000
    young = rng.random(rows) < 0.45
    age = np.where(young, 29 + 7 * normal(rng, rows), 56 + 14 * normal(rng, rows))
    contact = pick(rng, {"web": 58, "phone": 27, "letter": 15}, rows)
    return pd.DataFrame({"age": np.clip(np.round(age), 18, 90).astype(int), "contact": contact})


def commutes() -> pd.DataFrame:
    """Minutes to work, log-normal with a median that depends on the mode, some rounded to 5; a tenth work at home."""
    rng, rows = np.random.default_rng(2), 8000
    medians = {"car": 24, "public transport": 38, "bicycle": 17, "on foot": 11, "at home": 0, "other": 30}
    mode = pick(rng, dict(zip(medians, [46, 24, 11, 7, 10, 2], strict=True)), rows)
    minutes = np.array([medians[name] for name in mode]) * np.exp(0.5 * normal(rng, rows))
    # People report round numbers.
    minutes = np.where(rng.random(rows) < 0.6, 5 * np.round(minutes / 5), np.round(minutes))
    minutes = pd.Series(np.clip(minutes, 0, 150).astype(int).astype(str))
    minutes[rng.random(rows) < 0.02] = ""
    return pd.DataFrame({"mode": mode, "minutes": minutes})


def screen_time() -> pd.DataFrame:
    """Hours a day in an app, exponential with a mean that depends on the platform, one decimal."""
    rng, rows = np.random.default_rng(3), 10000
    means = {"Android": 2.9, "iOS": 2.5, "Windows": 3.6, "macOS": 3.1, "Linux": 3.9, "TV": 4.4}
    platform = pick(rng, dict(zip(means, [41, 29, 17, 8, 2, 3], strict=True)), rows)
    hours = -np.log1p(-rng.random(rows)) * np.array([means[name] for name in platform])
    return pd.DataFrame({"platform": platform, "hours": np.round(np.clip(hours, 0, 16), 1)})


def household_income() -> pd.DataFrame:
    """Yearly income in hundreds, log-normal and so skewed to the right, by region."""
    rng, rows = np.random.default_rng(4), 12000
    medians = {"North": 36000, "East": 31000, "South": 42000, "West": 39000, "Capital": 51000}
    region = pick(rng, dict(zip(medians, [22, 18, 24, 21, 15], strict=True)), rows)
    income = np.array([medians[name] for name in region]) * np.exp(0.6 * normal(rng, rows))
    return pd.DataFrame({"region": region, "income": (100 * np.clip(np.round(income / 100), 30, 4000)).astype(int)})


def health_survey() -> pd.DataFrame:
    """Six yes/no answers; a hidden trait raises all but exercise and lowers that, so that they go together."""
    rng, rows = np.random.default_rng(5), 6000
    trait = normal(rng, rows)
    questions = {
        "smokes": (-1.0, 0.6),
        "high_blood_pressure": (-0.7, 0.8),
        "diabetes": (-1.5, 0.7),
        "asthma": (-1.3, 0.2),
        "sleeps_badly": (-0.4, 0.6),
        "exercises": (0.3, -0.7),
    }
    answers = {
        name: np.where(level + slope * trait + normal(rng, rows) > 0, "yes", "no")
        for name, (level, slope) in questions.items()
    }
    return pd.DataFrame(answers)


def favourites() -> pd.DataFrame:
    """Browsers and emoji with long tails of rare values, and unanswered questions written in several ways."""
    rng, rows = np.random.default_rng(6), 9000
    browsers = {"Chrome": 6100, "Safari": 1700, "Edge": 500, "Firefox": 390, "Opera": 160, "Samsung Internet": 140}
    rare = {"Brave": 40, "Vivaldi": 14, "DuckDuckGo": 10, "Pale Moon": 4, "Lynx": 3, "Konqueror": 2}
    emoji = {symbol: 1 / rank for rank, symbol in enumerate("😂❤🔥😊🙏👍😭🎉🥺✨😍🤔👀💀🚀🌱🍕🐙🦉🪴", 1)}
    browser = pick(rng, {**browsers, **rare, "N/A": 180, "?": 60}, rows)
    favourite = pick(rng, {**emoji, "": 0.15}, rows)
    return pd.DataFrame({"browser": browser, "emoji": favourite})


def working_lives() -> pd.DataFrame:
    """Eleven answers of adults, as official surveys ask them: a hidden trait, schooling and age make them go together."""
    rng, rows = np.random.default_rng(7), 10_000
    young, trait = normal(rng, rows), normal(rng, rows)
    age = np.clip(np.round(47 - 18 * young), 16, 95).astype(int)
    hours = np.clip(np.round(36 + 6 * trait + 11 * normal(rng, rows)), 1, 80).astype(int)
    work = {
        "retired": 17,
        "at home": 8,
        "unpaid": 2,
        "unemployed": 6,
        "student": 9,
        "private": 38,
        "public": 12,
        "own firm": 5,
    }
    school = {
        "no school": 1,
        "grade 1-4": 2,
        "grade 5-6": 3,
        "grade 7-8": 4,
        "grade 9": 5,
        "grade 10": 6,
        "grade 11": 7,
    }
    degrees = {
        "school": 24,
        "started college": 16,
        "vocational": 8,
        "technical": 6,
        "bachelor": 18,
        "master": 9,
        "professional": 2,
    }
    married = {"widowed": 7, "divorced": 12, "separated": 3, "married": 46, "apart": 1, "partner": 9, "single": 22}
    jobs = {"no job": 20, "cleaning": 5, "farming": 3, "moving": 5, "machines": 6, "care": 7, "service": 8, "crafts": 9}
    offices = {
        "transport": 4,
        "sales": 9,
        "clerical": 9,
        "security": 2,
        "technology": 4,
        "specialist": 10,
        "manager": 9,
    }
    role = {"parent": 3, "head": 44, "partner": 22, "other": 6, "alone": 15, "child": 10}
    regions = {"North": 22, "East": 18, "South": 24, "West": 21, "Capital": 15}
    health = {"very bad": 3, "bad": 9, "fair": 25, "good": 41, "very good": 22}
    return pd.DataFrame(
        {
            "age": age,
            "work": ranked(rng, {**work, "freelance": 3}, 0.8 * young + 0.6 * trait, 0.6),
            "education": ranked(rng, {**school, **degrees, "doctor": 1.5, "other": 0.5}, trait, 0.7),
            "marital_status": ranked(rng, married, young, 0.8),
            "occupation": ranked(rng, {**jobs, **offices}, trait, 0.6),
            "household_role": ranked(rng, role, young, 0.6),
            "region": pick(rng, regions, rows),
            "sex": pick(rng, {"female": 51, "male": 49}, rows),
            "hours": hours,
            "health": ranked(rng, health, 0.6 * young + 0.8 * trait, 0.5),
            "owns_home": ranked(rng, {"yes": 58, "no": 42}, young, 0.5),
        }
    )


def experiment() -> pd.DataFrame:
    """Scores from 1 to 10 in two arms, drawn at even odds: a hidden liking, somewhat larger with the new version, cut into ten."""
    rng, rows = np.random.default_rng(8), 3000
    arm = pick(rng, {"old version": 50, "new version": 50}, rows)
    region = pick(rng, {"North": 24, "East": 19, "South": 30, "West": 27}, rows)
    liking = np.where(arm == "new version", 6.9, 6.2) + 2 * normal(rng, rows)
    return pd.DataFrame({"arm": arm, "region": region, "score": np.clip(np.round(liking), 1, 10).astype(int)})


TABLES = {
    "survey_ages.csv": survey_ages,
    "commutes.csv": commutes,
    "screen_time.csv": screen_time,
    "household_income.csv": household_income,
    "health_survey.csv": health_survey,
    "favourites.csv": favourites,
    "working_lives.csv": working_lives,
    "experiment.csv": experiment,
}


def content(file: str) -> bytes:
    """The bytes of one sample file."""
    return TABLES[file]().to_csv(index=False, lineterminator="\n").encode("utf-8")


if __name__ == "__main__":
    for file in TABLES:
        (FOLDER / file).write_bytes(content(file))
