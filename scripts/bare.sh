#!/usr/bin/env bash
# README's two commands in a root of Debian stable that has the packages that README names and a Rust toolchain, and
# nothing else: scripts/bare.sh [ROOT]. Needs root, debootstrap, and 12 GB in ROOT (target/bare).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(realpath -m "${1:-target/bare}")
command -v debootstrap >/dev/null || { echo "bare: apt-get install debootstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "bare: run it as root, which chroot needs" >&2; exit 1; }
packages=$(sed -n 's/^sudo apt install //p' README.md | tr ' ' ',')
[ -n "$packages" ] || { echo "bare: README.md has no line that begins with \`sudo apt install\`" >&2; exit 1; }

if [ ! -e "$root/etc/debian_version" ]; then
	mkdir -p "$root"
	debootstrap --variant=minbase --include="$packages" stable "$root"
fi
# The toolchain as rustup would install it, and this machine's certificates and addresses of servers.
rm -rf "$root/opt/rust" "$root/src"
mkdir -p "$root/opt" "$root/etc/ssl/certs"
cp -a "$(rustc --print sysroot)" "$root/opt/rust"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -e /etc/pip.conf ] || cp -L /etc/pip.conf "$root/etc/"
git clone --quiet --no-hardlinks . "$root/src"

mounted=()
finish() { for place in "${mounted[@]}"; do umount --lazy "$place"; done; }
trap finish EXIT
for place in proc dev sys; do
	mkdir -p "$root/$place"
	mount --rbind "/$place" "$root/$place"
	mount --make-rslave "$root/$place"
	mounted+=("$root/$place")
done
for target in ${BARE_TARGETS:-demo test}; do
	began=$SECONDS
	# Nothing of this machine's environment goes along, but the certificates.
	env -i "$(command -v chroot)" "$root" /usr/bin/env HOME=/root LANG=C.UTF-8 PATH=/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
		CARGO_HTTP_CAINFO=/etc/ssl/certs/ca-certificates.crt PIP_DEFAULT_TIMEOUT=180 \
		make -C /src "$target"
	echo "bare: make $target: $((SECONDS - began)) s, $(du -sh "$root/src/target" | cut -f1) in target/"
done
