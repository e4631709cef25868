# All a newcomer needs. Each target sets up what it needs in $(VENV) and does so once.
VENV ?= .venv
PYTHON ?= python3
PYTEST_FLAGS ?=

BIN := $(abspath $(VENV))/bin
DEPENDENCIES := $(VENV)/.dependencies
BUILT := $(VENV)/.built
NATIVE := setup.py pyproject.toml CMakeLists.txt $(wildcard cmake/*) \
          $(shell find cc -name '*.cc' -o -name '*.h')
CPP_FILES = $(shell find cc tests -name '*.cc' -o -name '*.h')

export PATH := $(BIN):$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

# Everything that pyproject.toml names, for building and for every extra.
define REQUIREMENTS
import importlib, sys
toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "pip._vendor.tomli")
with open("pyproject.toml", "rb") as file:
    project = toml.load(file)
lists = [project["build-system"]["requires"], project["project"]["dependencies"],
         *project["project"]["optional-dependencies"].values()]
print(*dict.fromkeys(line for lines in lists for line in lines), sep="\n")
endef
export REQUIREMENTS

.PHONY: help demo test sanitize lint bench wheel bazel clean

help:
	@echo 'make demo    quantized networks classify handwritten digits and read text'
	@echo 'make test    run every test but the slow ones (all: PYTEST_FLAGS="-m \"slow or not slow\"")'
	@echo 'make sanitize  run the core'"'"'s tests with address and undefined-behaviour sanitizers'
	@echo 'make lint    check style (ruff, clang-format)'
	@echo 'make bench   measure speed beside other runtimes'
	@echo 'make wheel   build a wheel in dist/'
	@echo 'make bazel   build with Bazel instead of CMake, and test what it built'
	@echo 'make clean   remove what was built (the environment $(VENV) stays)'
	@echo 'Settings: PYTHON=$(PYTHON) VENV=$(VENV) PYTEST_FLAGS=$(PYTEST_FLAGS) TF_QOPS_XLA=AUTO|ON|OFF'

$(DEPENDENCIES): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo 'tf_qops: $(PYTHON) must be Python 3.10 to 3.13: make PYTHON=/path/to/python'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'tf_qops: $(PYTHON) cannot make environments: apt-get install python3-venv'; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -c "$$REQUIREMENTS" > $(VENV)/requirements.txt
	$(BIN)/python -m pip install --quiet -r $(VENV)/requirements.txt
	@touch $@

$(BUILT): $(DEPENDENCIES) $(NATIVE)
	@echo 'Building the native libraries (a few minutes the first time)'
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps -e .
	@touch $@

# oneDNN's notices go past TF_CPP_MIN_LOG_LEVEL.
demo: $(BUILT)
	TF_ENABLE_ONEDNN_OPTS=0 $(BIN)/python examples/01_digits.py
	TF_ENABLE_ONEDNN_OPTS=0 $(BIN)/python examples/05_read_text.py --output build/text

test: $(BUILT)
	cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -S . -B build/cmake-tests \
	  -DTF_QOPS_CORE_ONLY=ON -DTF_QOPS_TESTS=ON
	cmake --build build/cmake-tests
	ctest --test-dir build/cmake-tests --output-on-failure
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

sanitize: $(DEPENDENCIES)
	cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(BIN)/ninja -S . -B build/cmake-sanitized \
	  -DTF_QOPS_TESTS=ON -DTF_QOPS_SANITIZE=address,undefined
	cmake --build build/cmake-sanitized
	ctest --test-dir build/cmake-sanitized --output-on-failure

lint: $(DEPENDENCIES)
	ruff check .
	ruff format --check .
	clang-format --dry-run --Werror $(CPP_FILES)

bench: $(BUILT)
	for file in $$(grep -l __main__ benchmarks/*.py); do $(BIN)/python $$file || exit 1; done

wheel: $(DEPENDENCIES)
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir dist .

bazel: $(DEPENDENCIES)
	@command -v bazel >/dev/null || \
	  { echo 'tf_qops: no Bazel found: apt-get install bazel-bootstrap bazel-rules-java'; exit 1; }
	PYTHON_BIN_PATH=$(BIN)/python bazel test //...

clean:
	rm -rf build dist *.egg-info tf_qops/_build_info.json tf_qops/*.so $(BUILT)
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
