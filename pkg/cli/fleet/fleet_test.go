package fleet

import "testing"

func TestContextPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"prod-*", "prod-eu", true},
		{"prod-*", "staging-eu", false},
		{"*", "anything/at:all", true},
		{"*k8s*west*", "arn:k8s:eu-west-1:1:cluster/x", true},
		{"*k8s*west", "arn:k8s:eu-west-1:1:cluster/x", false},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"a*bc*c", "abc", false},
		{"prod", "prod", false}, // names are compared as they are
	} {
		if got := matchesPattern(c.pattern, c.name); got != c.want {
			t.Errorf("%s, %s: %v", c.pattern, c.name, got)
		}
	}
}

func TestFileNames(t *testing.T) {
	var got []string
	for _, m := range newFileMembers([]string{"a/eu.tgz", "a/us.yaml", "b/eu.tar.gz", "b/folder", "b/.yaml"}) {
		got = append(got, m.name)
	}
	want := []string{"a/eu.tgz", "us", "b/eu.tar.gz", "folder", ".yaml"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got, want)
			break
		}
	}
}
