# The commands people type. All they install goes into .venv and build; "make clean" removes both.

PYTHON_BASE ?= python3
# One process more than processors, because many tests wait: for signals, workers, a browser.
PYTEST_ARGS ?= -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses=8 --dist worksteal
ARGS ?=

PYTHON := .venv/bin/python
LOG := build/log.txt

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-all lint format asan tsan fuzz bench bench-scaling bench-bars bench-figures \
	bench-accuracy bench-tuning bench-regression bench-boosting bench-refinement bench-segmentation \
	bench-robustness bench-scale-out paper faces wheel docs clean
unexport PYTHONPATH PYTHONHOME

# A step is done if its stamp exists. The name of a stamp carries a checksum of the step's inputs: unlike
# a time of modification, it notices a deleted file and ignores a checkout that changes nothing.
checksum = $(shell find $(1) -type f ! -path '*/__pycache__/*' 2>/dev/null \
	| LC_ALL=C sort | xargs cksum | cksum | cut -d ' ' -f 1)
PROJECT := $(call checksum,pyproject.toml)
SOURCES := $(call checksum,pyproject.toml CMakeLists.txt LICENSE README.md native src)
STAMPS := .venv/stamps
TOOLS := $(STAMPS)/tools-$(PROJECT)
TEST_TOOLS := $(STAMPS)/test-tools-$(PROJECT)
BENCH_LIBRARIES := $(STAMPS)/bench-libraries-$(PROJECT)
PLOT_TOOLS := $(STAMPS)/plot-tools-$(PROJECT)
FUZZ_TOOLS := $(STAMPS)/fuzz-tools-$(PROJECT)
WHEEL_TOOLS := $(STAMPS)/wheel-tools-$(PROJECT)
DOCS_TOOLS := $(STAMPS)/docs-tools-$(PROJECT)
DASK := $(STAMPS)/dask-$(PROJECT)
PACKAGE := $(STAMPS)/package-$(SOURCES)
STRICT_PACKAGE := $(STAMPS)/strict-package-$(SOURCES)
SANITIZED := installed-$(SOURCES)
FUZZ_TARGET := build/fuzz/built-$(SOURCES)

# Libraries that need older versions of others than .venv has get environments of their own.
ENVIRONMENTS := $(basename $(notdir $(wildcard benchmarks/environments/*.txt)))
ENVIRONMENT_STAMP := installed-$(call checksum,benchmarks/environments)

# The Python of a .venv may be gone after an upgrade of the system; then all starts again.
$(shell test -x $(PYTHON) || rm -rf .venv)

# One line that names what is missing, and nothing else from make.
cxx = $(if $(filter default undefined,$(origin CXX)),,$(CXX))
check_machine = $(eval missing := $(shell sh scripts/check_machine.sh '$(PYTHON_BASE)' '$(cxx)'))$(if \
	$(missing),$(error $(missing)))

# Show the output of a command only if it fails.
quietly = mkdir -p build && { $(1); } >$(LOG) 2>&1 || { cat $(LOG); exit 1; }

# pip installs the requirements that an expression finds in pyproject.toml.
pip_options = --quiet --disable-pip-version-check
pip_install = $(PYTHON) -m pip install $(pip_options)
write_requirements = mkdir -p build && $(PYTHON) -c "import tomllib; \
	project = tomllib.load(open('pyproject.toml', 'rb')); print(*$(1), sep='\n')" \
	>build/requirements.txt
install_requirements = $(call quietly,$(call write_requirements,$(1)) \
	&& $(pip_install) --requirement build/requirements.txt)
wheel_tests = project['tool']['cibuildwheel']['test-requires']
test_requirements = project['project']['optional-dependencies']['test']

# Without isolation the build tools keep their place, so a second build compiles only what changed.
install_package = $(call quietly,$(pip_install) --no-deps --no-build-isolation --force-reinstall $(1) .)

# Builds with sanitizers are installed beside .venv, and only scripts/sanitized.sh looks for them there.
# GCC's, because its runtimes can be loaded into any Python; those of Clang often are archives.
GXX ?= g++
asan_sanitizers := address,undefined
tsan_sanitizers := thread
THREADED_TESTS := tests/test_determinism.py tests/test_interrupt.py tests/test_weights.py
# ThreadSanitizer cannot follow threads that a child starts after a fork of a process that had some.
THREADED_TESTS += --deselect 'tests/test_determinism.py::test_child_processes_fit_and_predict[fork-2]'
check_sanitizer = $(eval missing := $(shell sh scripts/check_machine.sh '$(PYTHON_BASE)' '$(2)' \
	'$($(1)_sanitizers)'))$(if $(missing),$(error $(missing)))
run_sanitized = echo "[4/$(STEPS)] running the native tests ..." \
	&& sh scripts/sanitized.sh $(1) build/$(1)/cmake/co2forest_tests \
	&& echo "[5/$(STEPS)] running the tests ..." \
	&& sh scripts/sanitized.sh $(1) $(PYTHON) -m pytest $(PYTEST_ARGS) -m 'not plain_build and not slow' \
		--timeout=1200 -o faulthandler_timeout=1300 $(2) $(ARGS)

# Clang's, because GCC has no libFuzzer. A corpus grows from run to run.
CLANGXX ?= clang++
FUZZ_SECONDS ?= 60
fuzz_sanitizers := fuzzer,address,undefined
run_fuzzer = mkdir -p build/fuzz/$(2)-corpus && { $(1) build/fuzz/$(2)-corpus \
	-max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1 -artifact_prefix=build/fuzz/$(2)- \
	>build/fuzz/$(2).log 2>&1 || { tail -n 60 build/fuzz/$(2).log; exit 1; }; } \
	&& awk '/number_of_executed_units/ { print "      " $$2 " executions" }' build/fuzz/$(2).log

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s%s\n", $$1, $$2 }' Makefile

demo: STEPS := 3
demo: PACKAGE_STEP := 2
demo: $(PACKAGE)  ## build the package into .venv and run the demonstration
	@echo "[3/3] running the demonstration ..."
	@$(PYTHON) -m co2forest.demo $(ARGS)

test: STEPS := 5
test: lint  ## build with warnings as errors, then lint and run the tests
	@echo "[4/5] running the native tests ..."
	@.venv/bin/co2forest_tests
	@echo "[5/5] running the tests ..."
	@$(PYTHON) -m pytest $(PYTEST_ARGS) -m "not slow" $(ARGS)

test-all: STEPS := 5
test-all: lint  ## run the slow tests, too
	@echo "[4/5] running the native tests ..."
	@.venv/bin/co2forest_tests
	@echo "[5/5] running all tests ..."
	@$(PYTHON) -m pytest $(PYTEST_ARGS) $(ARGS)

# mypy checks the installed package, because only there _native has its types.
lint: STEPS := $(if $(filter test test-all,$(MAKECMDGOALS)),5,3)
lint: $(STRICT_PACKAGE) $(TEST_TOOLS)  ## check style and types of all code
	@echo "[3/$(STEPS)] checking style and types ..."
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m ruff format --check --quiet .
	@find native -name '*.[ch]pp' | xargs $(PYTHON) .venv/bin/clang-format --dry-run -Werror
	@$(PYTHON) -m mypy --no-error-summary --package co2forest >$(LOG) 2>&1 \
		|| { sed 's|^.*/site-packages/|src/|' $(LOG); exit 1; }

format: STEPS := 3
format: $(TEST_TOOLS)  ## rewrite all code in the project's style
	@echo "[3/3] formatting ..."
	@$(PYTHON) -m ruff check --quiet --fix-only .
	@$(PYTHON) -m ruff format --quiet .
	@find native -name '*.[ch]pp' | xargs $(PYTHON) .venv/bin/clang-format -i

asan: STEPS := 5
asan: build/asan/$(SANITIZED)  ## run all tests with AddressSanitizer and UndefinedBehaviorSanitizer
	@$(call run_sanitized,asan,tests)

tsan: STEPS := 5
tsan: build/tsan/$(SANITIZED)  ## run the tests that use threads with ThreadSanitizer
	@$(call run_sanitized,tsan,$(THREADED_TESTS))

fuzz: STEPS := 6
fuzz: PACKAGE_STEP := 2
fuzz: $(PACKAGE) $(FUZZ_TOOLS) $(FUZZ_TARGET)  ## look for input that breaks a forest, FUZZ_SECONDS for each target
	@echo "[5/6] fuzzing forests for $(FUZZ_SECONDS) s ..."
	@$(call run_fuzzer,build/fuzz/cmake/co2forest_fuzz,forest)
	@echo "[6/6] fuzzing model files for $(FUZZ_SECONDS) s ..."
	@$(call run_fuzzer,$(PYTHON) tests/fuzz/load_model.py,load_model)

bench: STEPS := 4
bench: PACKAGE_STEP := 2
bench: $(PACKAGE) $(BENCH_LIBRARIES) $(ENVIRONMENTS:%=bench-env-%)  ## compare with other libraries; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@$(PYTHON) benchmarks/run.py $(ARGS)

bench-scaling: STEPS := 3
bench-scaling: PACKAGE_STEP := 2
bench-scaling: $(PACKAGE)  ## measure how time and memory grow; options in ARGS="..."
	@echo "[3/3] measuring ..."
	@$(PYTHON) benchmarks/scaling.py $(ARGS)

bench-bars: STEPS := 2
bench-bars: $(TOOLS)  ## compare the stored results with the targets
	@$(PYTHON) benchmarks/bars.py $(ARGS)

bench-figures: STEPS := 2
bench-figures: $(PLOT_TOOLS)  ## draw the stored results into docs/figures
	@$(PYTHON) benchmarks/figures.py $(ARGS)

bench-env-%: .venv-%/$(ENVIRONMENT_STAMP) ;

bench-accuracy: STEPS := 3
bench-accuracy: PACKAGE_STEP := 2
bench-accuracy: $(PACKAGE)  ## compare accuracy with other forests; options in ARGS="..."
	@echo "[3/3] measuring accuracy ..."
	@$(PYTHON) benchmarks/accuracy.py $(ARGS)

bench-tuning: STEPS := 3
bench-tuning: PACKAGE_STEP := 2
bench-tuning: $(PACKAGE)  ## measure what a choice of parameters costs and gains; options in ARGS="..."
	@echo "[3/3] measuring searches ..."
	@$(PYTHON) benchmarks/tuning.py $(ARGS)

bench-regression: STEPS := 4
bench-regression: PACKAGE_STEP := 2
bench-regression: $(PACKAGE) $(BENCH_LIBRARIES)  ## compare with other regressors; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m contest.run regression $(ARGS)

bench-boosting: STEPS := 4
bench-boosting: PACKAGE_STEP := 2
bench-boosting: $(PACKAGE) $(BENCH_LIBRARIES)  ## compare with other boosting of classes; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m contest.run boosting $(ARGS)

bench-refinement: STEPS := 3
bench-refinement: PACKAGE_STEP := 2
bench-refinement: $(PACKAGE)  ## compare trees before and after refinement; options in ARGS="..."
	@echo "[3/3] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m contest.run refinement $(ARGS)

bench-segmentation: STEPS := 3
bench-segmentation: PACKAGE_STEP := 2
bench-segmentation: $(PACKAGE)  ## measure training and dense prediction of images; options in ARGS="..."
	@echo "[3/3] measuring ..."
	@$(PYTHON) benchmarks/segmentation.py $(ARGS)

bench-robustness: STEPS := 4
bench-robustness: PACKAGE_STEP := 2
bench-robustness: $(PACKAGE) $(BENCH_LIBRARIES)  ## attack this and other libraries; options in ARGS="..."
	@echo "[4/4] attacking ..."
	@PYTHONPATH=benchmarks:tests $(PYTHON) -m robustness.run $(ARGS)

bench-scale-out: STEPS := 4
bench-scale-out: PACKAGE_STEP := 2
bench-scale-out: $(PACKAGE) $(DASK)  ## measure what Dask costs above the trees; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m scale_out.run $(ARGS)

paper: STEPS := 4
paper: PACKAGE_STEP := 3
paper: $(PLOT_TOOLS) $(PACKAGE)  ## run the paper's experiments, or go on with them; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m paper.run $(ARGS)

faces: STEPS := 4
faces: PACKAGE_STEP := 3
faces: $(PLOT_TOOLS) $(PACKAGE)  ## run the paper's experiment on faces, or go on with it; options in ARGS="..."
	@echo "[4/4] measuring ..."
	@PYTHONPATH=benchmarks $(PYTHON) -m faces.run $(ARGS)

# The wheel is built from the source archive, as those are who download it, and tested in an environment
# that has nothing else, beside these sources.
wheel: STEPS := 5
wheel: $(WHEEL_TOOLS)  ## build, check and test a source archive and a wheel in dist
	@$(check_machine)echo "[3/5] building the source archive and from it the wheel ..."
	@rm -rf dist build/wheel && mkdir -p build/wheel
	@$(call quietly,$(PYTHON) -m build --no-isolation --outdir build/wheel . \
		&& PATH="$(CURDIR)/.venv/bin:$$PATH" $(PYTHON) -m auditwheel repair --wheel-dir dist build/wheel/*.whl \
		&& mv build/wheel/*.tar.gz dist)
	@echo "[4/5] checking them ..."
	@$(call quietly,$(PYTHON) -m twine check --strict dist/*)
	@$(PYTHON) scripts/check_wheel.py dist
	@echo "[5/5] testing the wheel in an environment of its own ..."
	@$(call quietly,$(PYTHON_BASE) -m venv --clear build/wheel/venv && $(call write_requirements,$(wheel_tests)) \
		&& build/wheel/venv/bin/python -m pip install $(pip_options) --requirement build/requirements.txt \
			"co2forest[cli] @ file://$$(echo $(CURDIR)/dist/*.whl)")
	@cd build/wheel && venv/bin/python $(CURDIR)/scripts/test_wheel.py
	@ls -l dist | awk 'NF > 2 { printf "dist/%s  %.1f MB\n", $$NF, $$5 / 1e6 }'

# Warnings are errors; --keep-going shows all of them.
docs: STEPS := 4
docs: PACKAGE_STEP := 3
docs: $(DOCS_TOOLS) $(PACKAGE)  ## build the documentation into build/docs
	@echo "[4/4] building the documentation ..."
	@$(PYTHON) -m sphinx -q -j auto -n -W --keep-going -c docs -d build/doctrees . build/docs $(ARGS)
	@echo "      open build/docs/index.html"

clean:  ## remove all that make created
	rm -rf .venv .venv-* build dist docs/api .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(TOOLS):
	@$(check_machine)echo "[1/$(STEPS)] creating .venv with the build tools and dependencies ..."
	@$(PYTHON) -m pip --version >/dev/null 2>&1 \
		|| { $(call quietly,$(PYTHON_BASE) -m venv --clear .venv); }
	@$(call install_requirements,project['build-system']['requires'] \
		+ project['project']['dependencies'] + 'cmake ninja'.split())
	@mkdir -p $(STAMPS) && rm -f $(STAMPS)/tools-* && touch $@

$(TEST_TOOLS): | $(TOOLS)
	@echo "[2/$(STEPS)] installing the test tools ..."
	@$(call install_requirements,$(test_requirements))
	@rm -f $(STAMPS)/test-tools-* && touch $@

# A library that cannot be installed here is left out of the comparison, which says so.
$(BENCH_LIBRARIES): | $(TOOLS)
	@echo "[3/$(STEPS)] installing the libraries to compare with ..."
	@$(call write_requirements,project['project']['optional-dependencies']['bench'])
	@while read -r library; do $(pip_install) "$$library" >$(LOG) 2>&1 \
		|| echo "      $$library cannot be installed: see $(LOG)"; done <build/requirements.txt
	@rm -f $(STAMPS)/bench-libraries-* && touch $@

.PRECIOUS: .venv-%/$(ENVIRONMENT_STAMP)
.venv-%/$(ENVIRONMENT_STAMP): | $(TOOLS)
	@echo "      creating .venv-$* ..."
	@mkdir -p build && { $(PYTHON_BASE) -m venv --clear .venv-$* \
		&& .venv-$*/bin/python -m pip install $(pip_options) \
			--requirement benchmarks/environments/$*.txt && touch $@; } >$(LOG) 2>&1 \
		|| echo "      $* cannot be installed: see $(LOG)"

$(PLOT_TOOLS): | $(TOOLS)
	@echo "[2/$(STEPS)] installing the plot tools ..."
	@$(call install_requirements,project['project']['optional-dependencies']['plot'])
	@rm -f $(STAMPS)/plot-tools-* && touch $@

$(DASK): | $(TOOLS)
	@echo "[3/$(STEPS)] installing Dask ..."
	@$(call install_requirements,project['project']['optional-dependencies']['dask'])
	@rm -f $(STAMPS)/dask-* && touch $@

$(PACKAGE): | $(TOOLS)
	@$(check_machine)echo "[$(PACKAGE_STEP)/$(STEPS)] compiling and installing co2forest ..."
	@rm -f $(STAMPS)/package-* $(STAMPS)/strict-package-*
	@$(call install_package,--config-settings=build-dir=build/release-{wheel_tag})
	@touch $@

# The test tools come through the network while the compiler has the processors.
$(STRICT_PACKAGE): | $(TOOLS)
	@$(check_machine)echo "[2/$(STEPS)] compiling co2forest, warnings as errors; installing the test tools ..."
	@rm -rf $(STAMPS)/package-* $(STAMPS)/strict-package-* $(STAMPS)/test-tools-* build/strict-wheel
	@$(call write_requirements,$(test_requirements))
	@sh scripts/at_once.sh $(LOG).tools '$(pip_install) --requirement build/requirements.txt' \
		$(LOG) '$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/strict-wheel \
			--config-settings=build-dir=build/strict-{wheel_tag} \
			--config-settings=cmake.define.CO2FOREST_WERROR=ON \
			--config-settings=cmake.define.CO2FOREST_TESTS=ON \
			--config-settings=cmake.define.CMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/.venv/bin .'
	@$(call quietly,$(pip_install) --no-deps --force-reinstall build/strict-wheel/*.whl)
	@touch $@ $(PACKAGE) $(TEST_TOOLS)

# No -Werror: with sanitizers GCC warns of what cannot be.
.PRECIOUS: build/%/$(SANITIZED)
build/%/$(SANITIZED): | $(TEST_TOOLS)
	@$(call check_sanitizer,$*,$(GXX))echo "[3/$(STEPS)] compiling co2forest with sanitizers into build/$* ..."
	@rm -rf build/$*/site build/$*/installed-*
	@$(call quietly,CXX='$(GXX)' $(pip_install) --no-deps --no-build-isolation --target build/$*/site \
		--config-settings=build-dir=build/$*/cmake \
		--config-settings=cmake.define.CO2FOREST_SANITIZE=$($*_sanitizers) \
		--config-settings=cmake.define.CO2FOREST_TESTS=ON .)
	@touch $@

$(WHEEL_TOOLS): | $(TOOLS)
	@echo "[2/$(STEPS)] installing the wheel tools ..."
	@$(call install_requirements,project['project']['optional-dependencies']['wheel'])
	@rm -f $(STAMPS)/wheel-tools-* && touch $@

$(FUZZ_TOOLS): | $(TOOLS)
	@echo "[3/$(STEPS)] installing the fuzz tools ..."
	@$(call install_requirements,project['project']['optional-dependencies']['fuzz'])
	@rm -f $(STAMPS)/fuzz-tools-* && touch $@

$(DOCS_TOOLS): | $(TOOLS)
	@echo "[2/$(STEPS)] installing the documentation tools ..."
	@$(call install_requirements,project['project']['optional-dependencies']['docs'])
	@rm -f $(STAMPS)/docs-tools-* && touch $@

$(FUZZ_TARGET): | $(TOOLS)
	@$(call check_sanitizer,fuzz,$(CLANGXX))echo "[4/$(STEPS)] compiling the fuzz target into build/fuzz ..."
	@rm -f build/fuzz/built-*
	@$(call quietly,export PATH="$(CURDIR)/.venv/bin:$$PATH" \
		&& cmake -S . -B build/fuzz/cmake -G Ninja -DCMAKE_BUILD_TYPE=Release \
			-DCMAKE_CXX_COMPILER='$(CLANGXX)' -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) \
			-DCO2FOREST_SANITIZE=$(asan_sanitizers) -DCO2FOREST_FUZZ=ON -DCO2FOREST_WERROR=ON \
		&& cmake --build build/fuzz/cmake --target co2forest_fuzz)
	@touch $@
