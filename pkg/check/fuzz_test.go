package check

import (
	"errors"
	"strings"
	"testing"
)

// FuzzConfig: whatever a config holds, it is read or has one mistake with its place.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"",
		"failOn: warning\nseverity: {RuleShadowed: \"off\"}\nignore:\n- {id: NotReached, namespaces: [a-*], reason: r}\n", "requirements: [/dev/zero]\n", "a: &a [*a]\n", "ignore: [{object: 'x/y/[a-'}]\n", "? {}\n", "---\n---\n"} {
		f.Add(seed)
	}
	known := NewCatalogue(nil)
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ParseConfig("c.yaml", []byte(text), known)
		var wrong *ConfigError
		if err != nil && (!errors.As(err, &wrong) || !strings.HasPrefix(wrong.Place, "c.yaml") || wrong.Message == "") {
			t.Errorf("%T: %v", err, err)
		}
	})
}
