#!/usr/bin/env bash
# Gets one release of kubectl-dopolicy into the folder DOPOLICY_BIN, after checking what it is.
#
# DOPOLICY_VERSION  the release, such as v0.1.0
# DOPOLICY_SHA256   the SHA-256 of its archive for this machine. Without one, gh verifies that the release workflow
#                   of the project built it from this tag; where there is no gh, nothing is installed.
set -euo pipefail

version=${DOPOLICY_VERSION:?} sha256=${DOPOLICY_SHA256:-} folder=${DOPOLICY_BIN:?}
repository=dopolicy/kubectl-dopolicy

fail() { echo "error: $*" >&2; exit 2; }

# digest FILE: its SHA-256.
digest() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# download NAME: a file of the release, into the folder for what is downloaded.
download() {
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$temp/$1" \
    "https://github.com/$repository/releases/download/$version/$1" || fail "cannot download $1 of $version"
}

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || fail "version: want a release such as v0.1.0, not \"$version\""
[[ $sha256 =~ ^([0-9a-f]{64})?$ ]] || fail "sha256: want 64 digits 0-9 and a-f"
case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "runs on Linux and macOS, not on $(uname -s)" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no release for $(uname -m)" ;;
esac

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
archive=kubectl-dopolicy_${version}_${os}_${arch}.tar.gz
download "$archive"
actual=$(digest "$temp/$archive")
if [ -n "$sha256" ]; then
  [ "$actual" = "$sha256" ] || fail "$archive has the SHA-256 $actual, not $sha256"
else
  download checksums.txt
  grep -qxF "$actual  $archive" "$temp/checksums.txt" || fail "checksums.txt of $version does not list $archive with the SHA-256 $actual"
  command -v gh >/dev/null || fail "without gh, the release cannot be verified: set sha256"
  gh attestation verify "$temp/$archive" --repo "$repository" \
    --cert-identity "https://github.com/$repository/.github/workflows/release.yaml@refs/tags/$version" ||
    fail "it is not attested that the release workflow built $archive"
fi

mkdir -p "$folder"
tar -xzf "$temp/$archive" -C "$folder" kubectl-dopolicy
if [ -n "${GITHUB_PATH:-}" ]; then echo "$folder" >>"$GITHUB_PATH"; fi
"$folder/kubectl-dopolicy" version
