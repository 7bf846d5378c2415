# What a newcomer runs. Needs make and Python 3.11 or later with pip and venv; the rest goes into .venv.
#
#   make demo PYTHON=python3.13      another interpreter (after `make clean`, where there is a .venv already)

PYTHON ?= python3
IN = .venv/bin/python
PIP = $(IN) -m pip --disable-pip-version-check
CODE = src tests benchmarks examples docs

.PHONY: help demo test check site bench conformance ecosystem clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo    two questions, two servers, a model that runs here (98 MB, fetched once); no account, no key'
	@echo 'make test    every test'
	@echo 'make check   lint, format, types'
	@echo 'make site    the documentation, in build/site; a link that leads nowhere is an error'
	@echo 'make bench   everything beside other libraries: docs/benchmarks (installs them; a quarter of an hour)'
	@echo 'make conformance   the official MCP suite over the hub (installs Node and the suite; some minutes)'
	@echo 'make ecosystem   how thousands of real tools do, with plots: docs/ecosystem.md (needs the corpus; some minutes)'
	@echo 'make clean   removes .venv'
	@echo 'PYTHON=…     the interpreter that .venv is made with; now $(PYTHON)'

demo: .venv/.demo
	@.venv/bin/toolbridge models pull smollm2
	@$(IN) examples/chat.py

test: .venv/.test
	$(IN) -m pytest -n auto

check: .venv/.test .venv/.check
	$(IN) -m ruff check $(CODE)
	$(IN) -m ruff format --check $(CODE)
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(IN) -m pyright --pythonpath $(IN)

site: .venv/.docs
	$(IN) docs/make_site.py
	cd build && PATH="$(CURDIR)/.venv/bin:$$PATH" zensical build --clean --strict --config-file zensical.toml
	@echo 'the site is in build/site: open build/site/index.html'

bench: .venv/.installed .venv/.report
	$(IN) benchmarks/run.py; ran=$$?; $(IN) docs/make_proof.py && exit $$ran

conformance: .venv/.installed
	$(IN) benchmarks/conformance/run.py

ecosystem: .venv/.report
	$(IN) benchmarks/ecosystem.py

clean:
	rm -rf .venv

# A stamp says what is installed; each is made anew when pyproject.toml changes.

.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("toolbridge needs Python 3.11 or later, and " \
	  + sys.executable + " is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")'
	@echo 'installing toolbridge into .venv …'
	@test -x $(IN) || $(PYTHON) -m venv .venv
	@$(PIP) install -q --upgrade 'pip>=25.1'
	@$(PIP) install -q -e .
	@touch $@

.venv/.demo: .venv/.installed
	@echo 'installing the engine of the built-in model, and a server that somebody else wrote …'
	@$(PIP) install -q -e '.[local]' 'mcp-server-time>=2026.10,<2027'
	@touch $@

.venv/.test: .venv/.installed
	@echo 'installing what the tests need …'
	@$(PIP) install -q --group test
	@touch $@

.venv/.check: .venv/.installed
	@echo 'installing ruff and pyright …'
	@$(PIP) install -q --group check
	@touch $@

# The generator loads no part of toolbridge: it reads the source.
.venv/.docs: .venv/.installed
	@echo 'installing what builds the site …'
	@$(PIP) install -q --group docs
	@touch $@

.venv/.report: .venv/.installed
	@echo 'installing what draws the plots …'
	@$(PIP) install -q --group report
	@touch $@
