"""The benchmarks: `python -m bench` from the repository's root.

Method. Every number is a ratio against a floor that is measured in the same run, because
only ratios survive a change of machine. The cases of a group take turns: one round of each,
in a fixed order that is reversed in every other round, so that a machine that grows slower
or faster favours nobody. Rounds before the first that counts warm up pipes, caches and
threads. A round of single calls gives their median; a round of many calls at once, or of
whole processes, gives its time divided by what it did. The result of a row is the median of
the ratios of its rounds, with the middle half of them as its spread.

The garbage collector runs before each round and is off during it, in this process, for the
floors as for what is compared with them. Children run as they always do.

Children run from copies in a temporary folder that are laid out and compiled as an installed
wheel is, so that a checkout, an editable install or PYTHONDONTWRITEBYTECODE does not slow
them down. Their commands are console scripts of the form that pip writes.
"""
