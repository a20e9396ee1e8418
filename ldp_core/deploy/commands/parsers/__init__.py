"""What can be typed after each command: one module a command, which loads nothing of its work.

Help and a mistyped argument are answered from here, in a moment.
"""
