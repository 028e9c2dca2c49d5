# `make` alone prints the words. Everything that is needed is set up on the way:
# Python's packages in .venv, servers in a cache outside the checkout (lab/cache.py).

PYTHON ?= python3
RUN := .venv/bin/python
READY := .venv/ready

# Hundreds of processes are started here; each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := words
.DELETE_ON_ERROR:
.PHONY: words demo test check format bench

words:
	@echo 'make demo     watch the whole system catch a slowed query; KEEP=1 leaves it up'
	@echo 'make test     check, then every test; ARGS="-k word" chooses some'
	@echo 'make check    style, types, and the linters'
	@echo 'make format   lay out the Python files'
	@echo 'make bench    the measurements that the documentation quotes'

$(READY): requirements-dev.lock pyproject.toml lab/bootstrap.py
	@$(PYTHON) -m lab.bootstrap
	@touch $@

demo: $(READY)
	@$(RUN) -m lab.demo $(if $(KEEP),--keep)

# The servers are fetched while the rest runs: the first time, building takes minutes.
# Who asks a server waits for it most of the time, so two of these share a core. Chains
# that are followed in real time come last, two side by side; the second keeps its words
# until it is done.
test: $(READY)
	@$(RUN) -m lab.fetch & fetched=$$!; \
	$(MAKE) --no-print-directory check && \
	$(if $(ARGS),wait $$fetched && $(RUN) -m pytest $(ARGS),\
	$(RUN) -m pytest -m 'not ($(LONG))' --numprocesses=auto && wait $$fetched && \
	$(RUN) -m pytest -m '$(LONG)' $(CHAINS:%=--ignore=%) --dist=loadfile \
		--numprocesses=$$((2 * $$(nproc))) && \
	$(MAKE) --no-print-directory --jobs=2 test-recorded test-lived)

LONG := servers or statistical
RECORDED := tests/end_to_end/recorded
LIVED := tests/end_to_end/test_demo.py tests/end_to_end/causes
CHAINS := $(RECORDED) $(LIVED)
.PHONY: test-recorded test-lived
test-recorded:
	@$(RUN) -m pytest -m servers $(RECORDED)

test-lived:
	@said=$$(mktemp) && trap 'rm -f $$said' EXIT; \
	$(RUN) -m pytest -m servers $(LIVED) >$$said 2>&1; \
	ended=$$?; cat $$said; exit $$ended

check: $(READY)
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(RUN) -m yamllint --strict .
	.venv/bin/hadolint Dockerfile

format: $(READY)
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

bench: $(READY)
	@grep --only-matching '^bench-[a-z-]*' $(firstword $(MAKEFILE_LIST)) \
		|| echo 'no measurement yet'

.PHONY: bench-deploy bench-engine bench-exporter bench-soak bench-statistics
bench-deploy: $(READY)
	@$(RUN) -m bench.deploy $(ARGS)

bench-engine: $(READY)
	@$(RUN) -m bench.engine $(ARGS)

bench-exporter: $(READY)
	@$(RUN) -m bench.exporter $(ARGS)

bench-soak: $(READY)
	@$(RUN) -m bench.soak $(ARGS)

bench-statistics: $(READY)
	@$(RUN) -m bench.statistics $(ARGS)
