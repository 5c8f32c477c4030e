"""ptxspec in an editor: a language server over the judgement of lint.

positions.py   the lines and columns that an editor counts
judged.py      a text as lint judges it, with the repository's configuration
hover.py       what is known of an instruction
completion.py  how a spelling may go on
actions.py     changes that mend what was found, or ignore it
hints.py       the PTX version that an instruction needs
serving.py     all of this as a language server"""
