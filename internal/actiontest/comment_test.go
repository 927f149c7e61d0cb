package actiontest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writePrograms writes shell scripts into a folder, by the names of the programs for which they stand.
func writePrograms(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// hub is gh, as far as comments go: it has the ids of the comments that were found, and keeps what is sent.
func hub(dir, ids, sent string) map[string]string {
	return map[string]string{"gh": `echo "$*" >> ` + dir + `/calls
case "$*" in
*--paginate*) printf '` + ids + `' ;;
*) for word; do case $word in body=@*) cat "${word#body=@}" > ` + dir + `/body ;; esac; done; ` + sent + ` ;;
esac`}
}

// runComment runs the step of the Action that comments.
func runComment(t *testing.T, text string, inputs map[string]string, programs string) *job {
	t.Helper()
	file := filepath.Join(t.TempDir(), "comment.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j := &job{t: t, repo: t.TempDir(), temp: t.TempDir(), inputs: inputs, number: "7", path: programs,
		outputs: map[string]string{"comment": file}}
	all := readAction(t)
	for _, s := range all.Runs.Steps {
		if s.Name == "comment" && j.isTrue(all, s.If) {
			j.runStep(all, s)
		}
	}
	return j
}

func TestComment(t *testing.T) {
	const loses = "**1 route rule loses authentication.** httproute/shop/cart/items\n\n1 route rule changes.\n"
	const same = "**Nothing changes: 1 effective policy is the same.**\n"
	tests := []struct {
		name   string
		text   string // the comment
		ids    string // of the comments that the Action made before
		sent   string // what gh does with a comment
		inputs map[string]string
		call   string // how gh is called to write it; "": it is not
		log    string
	}{
		{name: "the first", text: loses,
			call: "api --silent --method POST repos/acme/shop/issues/7/comments --field body=@"},
		{name: "a later one", text: loses, ids: `12\n14\n`,
			call: "api --silent --method PATCH repos/acme/shop/issues/comments/12 --field body=@"},
		{name: "of a fork", text: loses, sent: "exit 1", call: "api --silent --method POST",
			log: "::notice title=dopolicy::The comment is in the summary of this job: the token of the job may not write"},
		{name: "none is wanted", text: loses, inputs: map[string]string{"comment": "false"}},
		{name: "nothing changes", text: same},
		{name: "nothing changes any more", text: same, ids: "12",
			call: "api --silent --method PATCH"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			inputs := map[string]string{"category": "the --> shop"}
			for name, value := range test.inputs {
				inputs[name] = value
			}
			if test.sent == "" {
				test.sent = ":"
			}
			j := runComment(t, test.text, inputs, writePrograms(t, hub(dir, test.ids, test.sent)))
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			last := string(calls)
			last = last[strings.LastIndex(strings.TrimSuffix(last, "\n"), "\n")+1:]
			if test.call == "" && strings.Contains(last, "--method") || !strings.HasPrefix(last, test.call) ||
				!strings.Contains(j.log, test.log) {
				t.Errorf("gh was called with %s\n%s", calls, j.log)
			}
			body, _ := os.ReadFile(filepath.Join(dir, "body"))
			if test.call != "" && (!strings.HasPrefix(string(body), test.text) ||
				!strings.HasSuffix(string(body), "\n<!-- dopolicy the_--__shop -->\n")) {
				t.Errorf("the comment is\n%s", body)
			}
			if j.summary != test.text || j.failed != 0 {
				t.Errorf("exit %d, the summary is\n%s", j.failed, j.summary)
			}
		})
	}
}
