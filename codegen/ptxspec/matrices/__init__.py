"""The facts about instructions that multiply matrices: their forms, and how tensor cores sum. It needs the standard
library only, and is part of ptxemu too."""
