package ingress

import (
	"net/netip"
	"testing"
)

func TestTranslateSubstitution(t *testing.T) {
	for text, want := range map[string]string{`/\2`: "/${2}", `\0x`: "${0}x", `$1`: "$$1", `a\\1`: `a\1`, `\11`: "${1}1",
		`\`: `\`, `\x`: `\x`} {
		if got := TranslateSubstitution(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestReplaceMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, template, path, want string
		changed                       bool
	}{
		{"^/api(/|$)(.*)", "/${2}", "/api/x", "/x", true},
		{"^/api(/|$)(.*)", "/${2}", "/apix", "/apix", false},
		{"a", "b", "/a/a", "/b/b", true},
		{"(.*)", "/x", "/a", "/x", true}, // no match of nothing behind a match
	} {
		rewrite, err := ReplaceMatches(c.pattern, c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got, changed := rewrite(c.path); got != c.want || changed != c.changed {
			t.Errorf("%s of %s: %s %v, want %s %v", c.pattern, c.path, got, changed, c.want, c.changed)
		}
	}
	if _, err := ReplaceMatches("(", ""); err == nil {
		t.Error("an expression that does not compile is taken")
	}
}

func TestEffectsInOrder(t *testing.T) {
	var e Effects
	e.AddRewrite(func(path string) (string, bool) { return path + "a", true })
	e.AddRewrite(func(path string) (string, bool) { return path, false })
	e.AddRewrite(func(path string) (string, bool) { return path + "b", true })
	if got, changed := e.Rewrite("/"); got != "/ab" || !changed {
		t.Errorf("the path is %s %v, want /ab", got, changed)
	}
	for _, limit := range []int64{0, 8, 4, 16, 0} {
		e.LimitBody(limit)
	}
	if e.BodyLimit != 4 {
		t.Errorf("the limit is %d, want the lowest", e.BodyLimit)
	}
}

func TestAddressList(t *testing.T) {
	ranges, ok := ParseRanges([]string{"10.0.0.0/8", "192.168.0.1"})
	if _, bad := ParseRanges([]string{"10.0.0.0/8", "x"}); !ok || bad {
		t.Fatal("networks are read wrongly")
	}
	l := AddressList{Rules: []AddressRule{{Ranges: ranges[1:]}, {Allow: true, Ranges: ranges}}}
	for address, want := range map[string]struct {
		passes bool
		by     Barrier
	}{"10.1.1.1": {true, DenyList}, "192.168.0.1": {false, DenyList}, "172.16.0.1": {false, AllowList}} {
		if passes, by := l.FindBarrier(netip.MustParseAddr(address)); passes != want.passes || by != want.by {
			t.Errorf("%s: %v %s, want %v %s", address, passes, by, want.passes, want.by)
		}
	}
}
