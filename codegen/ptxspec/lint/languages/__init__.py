"""PTX in the programs of other languages.

text.py      what strings say, and whether that is PTX
cpp.py       C and C++
python.py    Python"""
