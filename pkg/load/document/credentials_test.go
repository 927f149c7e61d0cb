package document

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestHideCredentials(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                                    "plain",
		"see https://example.com/a?b#c":            "see https://example.com/a?b#c",
		"https://example.com:8443/a@v1":            "https://example.com:8443/a@v1",
		"https://github.com/org/repo@v1":           "https://github.com/org/repo@v1",
		"at https://bob:pw@example.com/a: refused": "at https://***@example.com/a: refused",
		"https://token@example.com/a@v1":           "https://***@example.com/a@v1",
		"https://token@example.com:8443/a@v1":      "https://***@example.com:8443/a@v1",
		"ssh://git@example.com/a":                  "ssh://git@example.com/a",
		"ssh://git:pw@example.com/a":               "ssh://***@example.com/a",
		"'http://bob:p/w@h' and http://h":          "'http://***@h' and http://h",
		`parse "http://bob:p w@h:x/": no`:          `parse "http://***@h:x/": no`,
		`parse "http://bob:p\"w@h:x/": no`:         `parse "http://***@h:x/": no`,
		"https://a:b@c, https://d:e@f":             "https://***@c, https://***@f",
		"git+https://x:y@h/r":                      "git+https://***@h/r",
	} {
		if got := HideCredentials(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestHideCredentialsOf(t *testing.T) {
	for _, address := range []string{`bob:p"w@h`, "http://bob:p'w@h", "bob:p/w@h"} {
		text := fmt.Sprintf("%s, %q, and %q", address, address, "bob:p")
		want := strings.NewReplacer(`bob:p"w`, "***", "bob:p'w", "***", "bob:p/w", "***", `bob:p\"w`, "***", `"bob:p"`,
			`"***"`).Replace(text)
		if got := HideCredentialsOf(address, text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := HideCredentialsOf("http://h", "at http://h"); got != "at http://h" {
		t.Error(got)
	}
}

// TestHideCredentialsOfErrors: nothing of a password is in what the library says of an address with
// it.
func TestHideCredentialsOfErrors(t *testing.T) {
	for _, odd := range []string{"", "/", "?", "#", "@", ":", "%zz", " ", "\"", "\\", "'", "\x7f", "é", "[", "]"} {
		for _, host := range []string{"127.0.0.1:x", "[::1", "h", "h:1/%zz", ""} {
			address := "http://bob:CANARY" + odd + "CANARY@" + host + "/"
			_, err := url.Parse(address)
			if err == nil {
				err = fmt.Errorf("cannot use %q", address)
			}
			if got := HideCredentials(err.Error()); strings.Contains(got, "CANARY") {
				t.Errorf("%s: %s", err, got)
			}
		}
	}
}

func FuzzHideCredentials(f *testing.F) {
	f.Add("a/b", "h")
	f.Add("%zz", "h:x")
	f.Fuzz(func(t *testing.T, odd, host string) {
		if strings.Contains(host, "CANARY") {
			return
		}
		address := "http://bob:CANARY" + odd + "@" + host
		_, err := url.Parse(address)
		if err == nil {
			err = fmt.Errorf("cannot use %q", address)
		}
		if got := HideCredentials(err.Error()); strings.Contains(got, "CANARY") {
			t.Errorf("%q: %s", err.Error(), got)
		}
	})
}
