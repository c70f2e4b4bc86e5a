# SPDX-License-Identifier: BSD-3-Clause
# The commands people type. Everything they install goes into .venv and build; "make clean" removes both.
#
# A file in .venv/done or called "done" has the time at which a successful step began. As with any file,
# make repeats the step if something it depends on is newer.

PYTHON_BASE ?= python3
# One process more than processors, because many tests wait: for signals, workers, a browser.
PYTEST_ARGS ?= -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --maxprocesses=8 --dist worksteal
FUZZ_SECONDS ?= 60
STRESS_MINUTES ?= 1
# The sanitizers are GCC's, whose runtimes can be loaded into any Python. Only Clang has libFuzzer.
GXX ?= g++
CLANGXX ?= clang++

PYTHON := .venv/bin/python
DONE := .venv/done
BENCHMARKS := $(shell awk '/^[a-z]/ { print $$1 }' benchmarks/commands.txt)
# With the folders, which change when a file is deleted.
SOURCES := pyproject.toml CMakeLists.txt LICENSE README.md \
	$(shell find native src -name __pycache__ -prune -o -print)

.PHONY: help demo test test-all lint format asan tsan fuzz wheel docs clean $(BENCHMARKS)
.SECONDARY:
.SECONDEXPANSION:
unexport PYTHONPATH PYTHONHOME

# Two steps at once, so that test tools are downloaded while the compiler runs. Several commands, such as
# "make clean test", run one after the other.
MAKEFLAGS += --jobs=2
$(if $(word 2,$(MAKECMDGOALS)),$(eval .NOTPARALLEL:))

# The Python of a .venv may be gone after an upgrade of the system; then everything starts again.
$(shell test -x $(PYTHON) || rm -rf .venv)

# quietly COMMANDS: show their output only if they fail. step COMMANDS: also remember that they are done.
log = build/log/$(subst /,-,$@).txt
quietly = mkdir -p build/log && { $(1); } >$(log) 2>&1 || { cat $(log); exit 1; }
step = mkdir -p $(@D) && touch $@.begun && $(call quietly,$(1)) && mv $@.begun $@
# check COMPILER SANITIZERS: end with one line that names what this machine lacks, if anything.
check = $(call end,$(shell sh scripts/check_machine.sh '$(PYTHON_BASE)' '$(1)' '$(2)'))
end = $(if $(1),$(error $(1)))
cxx = $(if $(filter default undefined,$(origin CXX)),,$(CXX))
pip := $(PYTHON) -m pip --quiet --disable-pip-version-check
install := $(pip) install --requirement /dev/stdin

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-20s%s\n", $$1, $$2 }' Makefile
	@awk '/^[a-z]/ { printf "make %-20s", $$1; $$1 = $$2 = $$3 = ""; print substr($$0, 4) }' benchmarks/commands.txt

demo: $(DONE)/package  ## build the package into .venv and run the demonstration
	@$(PYTHON) -m co2forest.demo $(ARGS)

test: lint  ## build with warnings as errors, lint and run the tests; ARGS="-k oob" selects some
test-all: lint  ## run the slow tests, too
test test-all:
	@build/strict/co2forest_tests
	@echo "running the tests ..."
	@$(PYTHON) -m pytest $(PYTEST_ARGS) $(if $(filter test,$@),-m "not slow") $(ARGS)

# mypy checks the installed package, because only there _native has its types.
lint: $(DONE)/strict  ## check style, spelling, layers and types of all code
	@echo "checking style, spelling, layers and types ..."
	@$(PYTHON) -m ruff check --quiet . && $(PYTHON) -m ruff format --check --quiet .
	@find native -name '*.[ch]pp' | xargs .venv/bin/clang-format --dry-run -Werror
	@.venv/bin/typos
	@$(PYTHON) scripts/check_includes.py
	@$(call quietly,.venv/bin/lint-imports --no-cache)
	@$(PYTHON) -m mypy --no-error-summary --package co2forest >$(log) 2>&1 \
		|| { sed 's|^.*/site-packages/|src/|' $(log); exit 1; }

format: $(DONE)/lint  ## rewrite all code in the project's style
	@$(PYTHON) -m ruff check --quiet --fix-only . && $(PYTHON) -m ruff format --quiet .
	@find native -name '*.[ch]pp' | xargs .venv/bin/clang-format -i

asan: build/asan/site  ## run tests and attacks with AddressSanitizer and UndefinedBehaviorSanitizer
tsan: build/tsan/site  ## run attacks and the tests that use threads with ThreadSanitizer
asan tsan:
	@sh scripts/sanitized.sh $@ build/$@/co2forest_tests
	@echo "running the tests ..."
	@sh scripts/sanitized.sh $@ $(PYTHON) -m pytest $(PYTEST_ARGS) --timeout=1200 -o faulthandler_timeout=1300 \
		-m '$(if $(filter tsan,$@),threads and not after_fork and )not plain_build and not slow' $(ARGS)
	@sh scripts/sanitized.sh $@ $(PYTHON) -m attack.run --minutes $(STRESS_MINUTES) --attacks fits sparse images files threads

fuzz: $(DONE)/package $(DONE)/fuzz  ## look for input that breaks a forest, FUZZ_SECONDS for each target
	@$(call check,$(CLANGXX),fuzzer)sh scripts/fuzz.sh '$(CLANGXX)' $(FUZZ_SECONDS)

wheel: $(DONE)/wheel  ## build, check and test a source archive and a wheel in dist
	@$(call check,$(cxx))sh scripts/build_wheel.sh '$(PYTHON_BASE)'

docs: $(DONE)/docs $(DONE)/package  ## build the documentation into build/docs; warnings are errors
	@echo "building the documentation into build/docs/index.html ..."
	@$(PYTHON) -m sphinx -q -j auto -n -W --keep-going -c docs -d build/doctrees . build/docs $(ARGS)

clean:  ## remove everything that make created
	rm -rf .venv .venv-* build dist docs/api .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# benchmarks/commands.txt says what each command needs and runs.
column = $(subst +, ,$(shell awk '$$1 == "$(1)" { print $$$(2) }' benchmarks/commands.txt))
$(BENCHMARKS): $$(addprefix $(DONE)/,$$(call column,$$@,2))
	@PYTHONPATH=$(CURDIR)/benchmarks:$(CURDIR)/tests/helpers $(PYTHON) -m $(call column,$@,3) $(ARGS)

$(DONE)/tools: pyproject.toml
	@$(call check,$(cxx))echo "creating .venv with the build tools and dependencies ..."
	@$(PYTHON) -m pip --version >/dev/null 2>&1 || $(PYTHON_BASE) -m venv --clear .venv
	@$(call step,$(if $(LOCKED),cat requirements/test.txt,$(PYTHON) scripts/requirements.py build) | $(install))

# An extra of pyproject.toml. With LOCKED=1 requirements/test.txt has brought it, and nothing more may come.
$(DONE)/%: pyproject.toml | $(DONE)/tools
	@echo "installing the tools for $* ..."
	@$(call step,$(PYTHON) scripts/requirements.py $* | $(install) $(if $(LOCKED),--no-index))

# One by one: a library that cannot be installed here is left out of the comparison, which says so.
$(DONE)/bench: pyproject.toml | $(DONE)/tools
	@echo "installing the libraries to compare with ..."
	@$(call step,$(PYTHON) scripts/requirements.py bench | xargs -n 1 $(pip) install || true)

# Libraries that need older versions of others than .venv has get environments of their own.
$(DONE)/environments: $(patsubst benchmarks/environments/%.txt,.venv-%/done,$(wildcard benchmarks/environments/*)) ;
bench-env-%: .venv-%/done ;
.venv-%/done: benchmarks/environments/%.txt
	@echo "creating .venv-$* ..."
	@$(PYTHON_BASE) -m venv --clear .venv-$*
	-@$(call step,.venv-$*/bin/python -m pip --quiet install --requirement $<)

# A build is a folder with a wheel. Without isolation the build tools keep their place, so that a second
# build compiles only what changed. MAKEFLAGS would limit the compiler to the two jobs from above.
build/%/done: $(SOURCES) | $(DONE)/tools
	@$(call check,$(cxx),$(SANITIZE))echo "compiling co2forest into build/$* ..."
	@$(call step,rm -f build/$*/*.whl && MAKEFLAGS= SKBUILD_BUILD_DIR='build/$*/{wheel_tag}' \
		SKBUILD_CMAKE_DEFINE='CMAKE_RUNTIME_OUTPUT_DIRECTORY=$(CURDIR)/build/$*$(DEFINE)' \
		$(pip) wheel --no-deps --no-build-isolation --wheel-dir build/$* .)
build/strict/done: DEFINE := ;CO2FOREST_TESTS=ON;CO2FOREST_WERROR=ON
build/%san/done: DEFINE = ;CO2FOREST_TESTS=ON;CO2FOREST_SANITIZE=$(SANITIZE)
build/%san/done: export CXX = $(GXX)
build/asan/done: SANITIZE := address,undefined
build/tsan/done: SANITIZE := thread

# Who has run "make test" once goes on with the strict build. Two runs of pip would get into each other's way.
$(DONE)/package: $(DONE)/$(if $(wildcard build/strict/done),strict,release) ;
$(DONE)/strict: | $(DONE)/lint
$(DONE)/lint: | $(DONE)/test
$(DONE)/release $(DONE)/strict: $(DONE)/%: build/%/done
	@$(call step,$(pip) install --no-deps --force-reinstall build/$*/*.whl)

# Installed beside .venv, where only scripts/sanitized.sh looks.
build/asan/site build/tsan/site: build/%/site: build/%/done | $(DONE)/test
	@rm -rf $@ && $(call quietly,$(pip) install --no-deps --target $@ build/$*/*.whl)
