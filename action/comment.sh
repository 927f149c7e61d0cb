#!/usr/bin/env bash
# Writes a comment into the summary of the job and, where the token may do that, to the pull request: one comment, which
# later runs change.
#
# DOPOLICY_COMMENT  the file with the comment
# DOPOLICY_NUMBER   the number of the pull request; empty: only the summary
# DOPOLICY_KEY      tells the comment from those of other jobs
# GH_TOKEN          the token of the job
set -euo pipefail

file=${DOPOLICY_COMMENT:?} number=${DOPOLICY_NUMBER:-} key=${DOPOLICY_KEY:-}
cat "$file" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
[ -n "$number" ] || exit 0

# give_up WHY: the summary has to do.
give_up() {
  echo "::notice title=dopolicy::The comment is in the summary of this job: $1"
  exit 0
}

[[ $number =~ ^[0-9]+$ ]] || give_up "there is no pull request"
command -v gh >/dev/null || give_up "the runner has no gh"
mark="<!-- dopolicy ${key//[^A-Za-z0-9_-]/_} -->"
comments="repos/${GITHUB_REPOSITORY:?}/issues/$number/comments"
ids=$(MARK=$mark gh api --paginate "$comments" \
  --jq '.[] | select(.user.type == "Bot" and (.body | rtrimstr("\n") | endswith(env.MARK))) | .id') ||
  give_up "the token of the job cannot read the comments of the pull request"
id=${ids%%$'\n'*}
if [ -z "$id" ] && [[ $(sed -n 1p "$file") == '**Nothing changes'* ]]; then exit 0; fi

body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat "$file" >"$body"
printf '\n%s\n' "$mark" >>"$body"
if [ -n "$id" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$body"
else
  gh api --silent --method POST "$comments" --field "body=@$body"
fi || give_up "the token of the job may not write to the pull request, as in those of forks"
