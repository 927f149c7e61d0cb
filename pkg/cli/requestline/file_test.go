package requestline

import (
	"strings"
	"testing"
)

// FuzzRequests: whatever a file of requests holds, it is read or the mistake has its line.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{"GET https://a.example/x --expect 200\n# c\n\ncurl -H 'a: b' https://a.example\n",
		"--grpc a/b x", "'", "GET", "\\\n", "POST http://[::1]:80/?a=b#c --header a:b --expect policy=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadFile("-", strings.NewReader(text))
		if err == nil && len(all) == 0 || err != nil && err.Error() == "" {
			t.Errorf("%q: %v, %v", text, all, err)
		}
		for _, one := range all {
			if one.Origin == "" {
				t.Errorf("%q has no place", text)
			}
		}
	})
}
