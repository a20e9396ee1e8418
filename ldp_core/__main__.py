"""``python -m ldp_core``: see `ldp_core.deploy.commands`."""

import sys

from ldp_core.deploy.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
