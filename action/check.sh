#!/usr/bin/env bash
# Judges a pull request with kubectl-dopolicy: mistakes in manifests, protection that is lost, and what changes. The files
# are those of the working directory; the config, and what it names, are those of the branch that the request goes to.
#
# DOPOLICY_BASE             that branch, as a revision; empty: nothing is compared, and the config is the one here
# DOPOLICY_PATH             file or folder with the manifests, relative to the working directory
# DOPOLICY_RECURSIVE        true: and its sub-folders
# DOPOLICY_ARGUMENTS        flags of the input for every command, one word in a line; {base} is a checkout of the branch
# DOPOLICY_CHECK_ARGUMENTS  more of them for check
# DOPOLICY_FAIL_ON          error, warning, info, none: findings that fail
# DOPOLICY_NEW_ONLY         true: only findings that the request brings
# DOPOLICY_NEW_ACCESS       fail, ignore: requests that get access that they did not have
# DOPOLICY_MISSING          properties or policy kinds that every route rule has to have, separated by commas
# DOPOLICY_INCOMPLETE       fail, warn: an answer that could be another one
# DOPOLICY_LOG              table, github: how findings are written to the log
# DOPOLICY_OUT              folder for policies.sarif, policies.xml (JUnit, with the log as a table) and comment.md
#
# It exits with 1 if something is found, with 3 if nothing is found and not everything is known, and with 2 for wrong usage.
set -euo pipefail

fail() { echo "error: $*" >&2; exit 2; }

# one_of NAME VALUE WORD…: the value is one of the words.
one_of() {
  local name=$1 value=$2 word
  shift 2
  for word; do [ "$word" != "$value" ] || return 0; done
  fail "$name: want one of $*, not \"$value\""
}

path=${DOPOLICY_PATH:?} out=${DOPOLICY_OUT:?} base=${DOPOLICY_BASE:-} missing=${DOPOLICY_MISSING:-}
recursive=${DOPOLICY_RECURSIVE:-true} fail_on=${DOPOLICY_FAIL_ON:-warning} new_only=${DOPOLICY_NEW_ONLY:-false}
new_access=${DOPOLICY_NEW_ACCESS:-fail} incomplete=${DOPOLICY_INCOMPLETE:-fail} log=${DOPOLICY_LOG:-table}
one_of recursive "$recursive" true false
one_of fail-on "$fail_on" error warning info none
one_of new-only "$new_only" true false
one_of new-access "$new_access" fail ignore
one_of incomplete "$incomplete" fail warn
one_of log "$log" table github
case $path in
  -* | /* | .. | ../* | */.. | */../*) fail "path: want a file or folder of the repository, not \"$path\"" ;;
esac

temp=$(mktemp -d)
moved=false

# put_back leaves the working directory as it was.
put_back() {
  if [ "$moved" = true ]; then
    rm -rf .dopolicy.yaml
    if [ -e "$temp/own/.dopolicy.yaml" ] || [ -L "$temp/own/.dopolicy.yaml" ]; then mv "$temp/own/.dopolicy.yaml" .; fi
  fi
  if [ -d "$temp/base" ]; then git worktree remove --force "$temp/base" || true; fi
  rm -rf "$temp"
}
trap put_back EXIT

mkdir -p "$out" "$temp/own"
rm -f "$out/policies.sarif" "$out/policies.xml" "$out/comment.md"
config=()
if [ -n "$base" ]; then
  tip=$(git rev-parse --verify --quiet --end-of-options "$base^{commit}") ||
    fail "there is no revision $base here: fetch it (fetch-depth: 0 of actions/checkout)"
  from=$(git merge-base "$tip" HEAD) ||
    fail "HEAD and $base have no commit in common: fetch all of the history (fetch-depth: 0 of actions/checkout)"
  git -c core.hooksPath=/dev/null worktree add --quiet --detach "$temp/base" "$tip"
  [ -e "$temp/base/.dopolicy.yaml" ] || : >"$temp/base/.dopolicy.yaml"
  # Commands without --config read the one in the working directory.
  moved=true
  if [ -e .dopolicy.yaml ] || [ -L .dopolicy.yaml ]; then mv .dopolicy.yaml "$temp/own/"; fi
  cp "$temp/base/.dopolicy.yaml" .dopolicy.yaml
  config=(--config "$temp/base/.dopolicy.yaml")
fi

# add_words TEXT: sets words to the lines of a text that are not empty.
words=()
add_words() {
  local line
  words=()
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -z "$line" ] || words+=("${line//\{base\}/$temp/base}")
  done <<<"$1"
}
add_words "${DOPOLICY_ARGUMENTS:-}"
input=(${words[@]+"${words[@]}"})
[ "$recursive" = false ] || input+=(-R)
add_words "${DOPOLICY_CHECK_ARGUMENTS:-}"
check=(check -f "$path" ${input[@]+"${input[@]}"} ${config[@]+"${config[@]}"} ${words[@]+"${words[@]}"})
[ "$new_only" = false ] || [ -z "$base" ] || check+=(--new-from "git:$from")
strict=()
[ "$incomplete" = warn ] || strict=(--strict)

# ask ARGUMENT…: runs the program, and sets code to its exit code.
code=0
ask() {
  code=0
  kubectl-dopolicy "$@" || code=$?
}

found=false unknown=false broken=0
# judge WHAT: takes the exit code of an answer into account, and says in the log what it means.
judge() {
  case $code in
    0) ;;
    1) found=true; echo "$1: found something" ;;
    3) unknown=true; echo "$1: not everything is known" ;;
    *) broken=$code; echo "$1: exit code $code" ;;
  esac
}

echo "== mistakes in $path"
ask "${check[@]}" ${strict[@]+"${strict[@]}"} -o "$log" --fail-on "$fail_on"
judge check
formats=(sarif:policies.sarif)
[ "$log" = github ] || formats+=(junit:policies.xml)
for format in "${formats[@]}"; do
  ask "${check[@]}" -o "${format%%:*}" --fail-on none >"$out/${format#*:}" 2>/dev/null
  [ "$code" -le 1 ] || rm -f "$out/${format#*:}"
done

if [ -n "$missing" ]; then
  echo "== route rules without $missing"
  ask matrix -f "$path" ${input[@]+"${input[@]}"} --missing "$missing"
  judge matrix
fi

access=0
if [ -n "$base" ]; then
  behavior=(diff --behavior --no-new-access "git:$from:$path" ${input[@]+"${input[@]}"})
  echo "== requests that get access that they did not have"
  ask "${behavior[@]}"
  access=$code
  if [ "$new_access" = fail ] && { [ "$access" != 3 ] || [ "$incomplete" = fail ]; }; then judge diff; fi

  echo "== what changes"
  ask diff "git:$from:$path" ${input[@]+"${input[@]}"} ${strict[@]+"${strict[@]}"} -o markdown >"$temp/changes.md"
  [ "$code" = 1 ] || judge diff # a change is no finding
  [ -s "$temp/changes.md" ] ||
    echo '**The answer is incomplete, and may hide a loss of protection: the manifests cannot be compared.** The log says why.' >"$temp/changes.md"

  # The first line is about protection. Where it says that nothing is lost, requests may still get new access.
  first=$(sed -n 1p "$temp/changes.md")
  {
    case $access:$first in
      1:'**Nothing '*) printf '**Requests get access that they did not have.**\n\n' ;;
      3:'**Nothing '*) printf '**It is not known whether requests get access that they did not have.**\n\n' ;;
    esac
    cat "$temp/changes.md"
    if [ "$access" = 1 ]; then
      ask "${behavior[@]}" -o markdown >"$temp/access.md" 2>/dev/null
      if [ "$(($(wc -c <"$temp/access.md") + $(wc -c <"$temp/changes.md")))" -lt 64000 ]; then
        printf '\n<details><summary>requests that get access that they did not have</summary>\n\n'
        cat "$temp/access.md"
        printf '\n</details>\n'
      else
        printf '\nThe log lists the requests that get access that they did not have.\n'
      fi
    fi
  } >"$out/comment.md"
  sed -n 1p "$out/comment.md"
fi

if [ -n "${GITHUB_OUTPUT:-}" ]; then
  [ ! -s "$out/policies.sarif" ] || echo "sarif=$out/policies.sarif" >>"$GITHUB_OUTPUT"
  [ ! -s "$out/comment.md" ] || echo "comment=$out/comment.md" >>"$GITHUB_OUTPUT"
fi
if [ "$broken" != 0 ]; then exit "$broken"; fi
if [ "$found" = true ]; then exit 1; fi
if [ "$unknown" = true ]; then exit 3; fi
