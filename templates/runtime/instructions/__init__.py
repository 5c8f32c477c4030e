"""One module per opcode, imported when it is first used."""
