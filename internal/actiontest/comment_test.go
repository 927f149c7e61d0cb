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

func TestComment(t *testing.T) {
	removed := map[string]string{"manifests/login.yaml": ""}
	const loses = "**1 route rule loses authentication."
	tests := []struct {
		name   string
		change map[string]string
		ids    string // of the comments that the Action made before
		sent   string // what gh does with a comment
		inputs map[string]string
		call   string // how gh is called to write it; "": it is not
		log    string
	}{
		{name: "the first", change: removed,
			call: "api --silent --method POST repos/acme/shop/issues/7/comments --field body=@"},
		{name: "a later one", change: removed, ids: `12\n14\n`,
			call: "api --silent --method PATCH repos/acme/shop/issues/comments/12 --field body=@"},
		{name: "of a fork", change: removed, sent: "exit 1", call: "api --silent --method POST",
			log: "::notice title=dopolicy::The comment is in the summary of this job: the token of the job may not write"},
		{name: "none is wanted", change: removed, inputs: map[string]string{"comment": "false"}},
		{name: "nothing changes", change: map[string]string{"README": "x"}},
		{name: "nothing changes any more", change: map[string]string{"README": "x"}, ids: "12",
			call: "api --silent --method PATCH"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			inputs := map[string]string{"path": "manifests", "category": "the --> shop"}
			for name, value := range test.inputs {
				inputs[name] = value
			}
			if test.sent == "" {
				test.sent = ":"
			}
			j := runActionWith(t, newRepository(t, shop(), test.change), inputs, writePrograms(t, hub(dir, test.ids, test.sent)))
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			last := string(calls)
			last = last[strings.LastIndex(strings.TrimSuffix(last, "\n"), "\n")+1:]
			if test.call == "" && strings.Contains(last, "--method") || !strings.HasPrefix(last, test.call) ||
				!strings.Contains(j.log, test.log) {
				t.Errorf("gh was called with %s\n%s", calls, j.log)
			}
			body, _ := os.ReadFile(filepath.Join(dir, "body"))
			if test.call != "" && (!strings.HasPrefix(string(body), j.first+"\n") ||
				!strings.HasSuffix(string(body), "\n<!-- dopolicy the_--__shop -->\n")) {
				t.Errorf("the comment is\n%s", body)
			}
			if test.change["README"] == "" && (!strings.HasPrefix(j.summary, loses) || j.failed != 1) {
				t.Errorf("exit %d, the summary is\n%s", j.failed, j.summary)
			}
		})
	}
}
