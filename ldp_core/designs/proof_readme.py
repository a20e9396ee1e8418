"""README.md of a proof: how to check it, and how to compare the questions that it is about with one's own."""

from __future__ import annotations

from ldp_core.bounds.asked import Document

README = """# A proof of what no mechanism can beat

{meaning}

| File | What it is |
|---|---|
| `certificate.json`, `certificate.npz` | what is proved, and the numbers that prove it |
| `verify.py` | checks that they do: `python3 verify.py`; needs Python and NumPy, and nothing of the program that made them |

`verify.py` ends with 0 where the proof holds, with 1 where it does not, and with 2 where nothing was checked because a file could not be read.
How the numbers prove it stands at its top.

{questions}"""

QUESTIONS = """## Whether it is about your questions

`verify.py` checks a statement about the questions that the files name. It cannot know whether these are yours: compare them. Your questions are
a matrix W with a row for each answer, times its weight, and a column for each type of people. Types stand in the order of the design: as its
columns are listed, the last one fastest, and "(other)" and "(missing)" after all other values of a column.{groups} Write W to
`questions.csv`, without headings, and paste this beside the files:

```python
{code}```

It prints how far your questions are from those of the proof, as a share of the largest number: 0, or about 1e-12, where they are the same.
"""
GROUPS = """ Here they stand group
after group: by the columns that the collector knows, the last one fastest, and within a group by the others."""

MATRIX = '''import functools
import numpy as np
import verify


def gram(document, data):
    """W'W as the proof has it."""
    n, asked = document["types"], document["workload"]
    if asked["gram"] == "classes":  # types are equal or not; or their numbers differ in some of all bits
        apart = np.arange(n)[:, None] ^ np.arange(n)
        return data["gram"][[[bin(x).count("1") if asked["bits"] else int(x > 0) for x in row] for row in apart.tolist()]]
    if asked["gram"] != "tables":
        return verify.gram(document, data)
    total = np.zeros((n, n))
    for group in asked["groups"]:  # the table of some columns, or what has these eigenvalues on sets of them
        sets = list(verify.subsets(tuple(group["columns"])))
        for members, value in zip(sets, group.get("eigenvalues") or [1.0] * len(sets)):
            ones = [np.ones((s, s)) / (s if i in group["columns"] else 1) for i, s in enumerate(asked["sizes"])]
            factors = [np.eye(len(J)) - J if i in members else J for i, J in enumerate(ones)]
            total += group["weight"] ** 2 * value * functools.reduce(np.kron, factors)
    return total


def off(G, document, W):
    """The largest difference. Types that no answer tells apart are one in some proofs, the first of them."""
    if "merged" in document:
        W = W[:, np.sort(np.unique(W, axis=1, return_index=True)[1])]
    return np.inf if W.shape[1] != len(G) else np.abs(W.T @ W - G).max() / max(np.abs(G).max(), 1e-300)


document = verify.parsed(open("certificate.json", "rb").read())
data = verify.arrays(open("certificate.npz", "rb").read())
W = np.loadtxt("questions.csv", delimiter=",", ndmin=2)
if document["kind"] == "strata":  # only what W'W has within groups counts, of groups with people
    parts, found, end = verify.own_parts(document, data), [], 0
    shares = data.get("shares", data["which"] + 1)
    for k, scale, constant, share in zip(data["which"], data["scales"], data["constants"], shares):
        part, own = parts[int(k)]
        start, end = end, end + part.get("merged", part)["types"]
        if share > 0:
            found.append(off(scale**2 * gram(part, own) + constant, part, W[:, start:end]))
    print(max(found))
else:
    print(off(gram(document, data), document, W))
'''
EIGENVALUES = '''import numpy as np
import verify

data = verify.arrays(open("certificate.npz", "rb").read())
W = np.loadtxt("questions.csv", delimiter=",", ndmin=2)
G, n = W.T @ W, W.shape[1]
# The proof has W'W by its eigenvalues off the constants, divided by n: single numbers, and those of blocks.
theirs = np.repeat(data["gram_alone"], data["gram_dimensions_alone"].astype(int)).tolist()
for times, H in verify.matrices(data):
    theirs += np.repeat(np.linalg.eigvalsh(H), int(times)).tolist()
ours = np.linalg.eigvalsh(G - G.mean(axis=0) - G.mean(axis=1, keepdims=True) + G.mean()) / n
theirs = np.sort([*theirs, *[0.0] * (n - len(theirs))])
constant, left = data["gram_rest"]  # the mean of W'W, and the sum of eigenvalues that the proof leaves out
print(max(np.abs(np.sort(ours) - theirs).max() - left, abs(G.mean() - constant)) / np.abs(G).max())
'''


def questions(document: Document) -> str:
    """How to compare the questions of a proof with one's own."""
    blocks = any(part["kind"] == "blocks" for part in (document, *document.get("parts", ())))
    groups = GROUPS if document["kind"] == "strata" else ""
    return QUESTIONS.format(groups=groups, code=EIGENVALUES if blocks else MATRIX)


def readme(document: Document) -> str:
    """README.md beside the files of a proof."""
    return README.format(meaning=document["meaning"], questions=questions(document))
