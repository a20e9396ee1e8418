"""Works out the stored league again: ``python -m ldp_core.papers``, in minutes."""

from ldp_core.papers import league, stored

if __name__ == "__main__":
    stored.write(league.KEY, league.compute())
