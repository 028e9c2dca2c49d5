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
# Who asks a server waits for it most of the time, so two tests share a processor. The
# tests of one file share its servers; their order is in tests/conftest.py.
test: $(READY)
	@$(RUN) -m lab.fetch & fetched=$$!; \
	$(MAKE) --no-print-directory check && \
	$(if $(ARGS),wait $$fetched && $(RUN) -m pytest $(ARGS),\
	echo 'tests that need no server' && \
	$(RUN) -m pytest -m 'not ($(LONG))' $(SHORT) && wait $$fetched && \
	echo 'tests with servers, and repeated experiments: minutes' && \
	$(RUN) -m pytest -m '$(LONG)' $(SHORT) --dist=loadfile --no-loadscope-reorder)

LONG := servers or statistical
SHORT = --quiet --no-header --numprocesses=$$((2 * $$(nproc)))

check: $(READY)
	$(RUN) -m ruff check --quiet
	$(RUN) -m ruff format --check --quiet
	$(RUN) -m mypy --no-error-summary
	$(RUN) -m yamllint --strict .
	.venv/bin/hadolint Dockerfile

format: $(READY)
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format

bench: $(READY)
	@grep --only-matching '^bench-[a-z-]*' $(firstword $(MAKEFILE_LIST)) \
		|| echo 'no measurement yet'

.PHONY: bench-call-floods bench-deploy bench-engine bench-exporter bench-recording \
	bench-soak bench-statistics
bench-call-floods: $(READY)
	@$(RUN) -m bench.call_floods $(ARGS)

bench-deploy: $(READY)
	@$(RUN) -m bench.speed.deploy $(ARGS)

bench-engine: $(READY)
	@$(RUN) -m bench.speed.engine $(ARGS)

bench-exporter: $(READY)
	@$(RUN) -m bench.speed.exporter $(ARGS)

bench-recording: $(READY)
	@$(RUN) -m bench.recording $(ARGS)

bench-soak: $(READY)
	@$(RUN) -m bench.speed.soak $(ARGS)

bench-statistics: $(READY)
	@$(RUN) -m bench.statistics $(ARGS)
