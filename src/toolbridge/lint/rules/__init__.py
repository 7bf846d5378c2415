"""The rules, one module a subject. Each module ends in `RULES`, its rows of the table."""
