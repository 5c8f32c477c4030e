"""ptxspec in an editor: a language server that checks texts with lint.

positions.py   the lines and columns that an editor counts
judged.py      a text checked by lint, with the repository's configuration
hover.py       the facts about an instruction
completion.py  how a spelling may go on
actions.py     changes that fix a finding or ignore it
hints.py       the PTX version that an instruction needs
serving.py     all of this as a language server"""
