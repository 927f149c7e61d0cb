package dataplane_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

func TestLimits(t *testing.T) {
	pack := func(text string) string {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
		return out.String()
	}
	in := func(text string) string { return `{"configs":[` + text + `{}]}` }
	for name, c := range map[string]struct{ text, want string }{
		"texts with punctuation":   {in(strings.Repeat(`",[{:\"", "\\", `, 100_000)), ""},
		"levels":                   {in(strings.Repeat("[", 90) + strings.Repeat("]", 90) + ","), ""},
		"too many levels":          {in(strings.Repeat("[", 100) + strings.Repeat("]", 100) + ","), "nested deeper than 100"},
		"too many numbers":         {in(strings.Repeat("1,", 4_000_000)), "more than 4000000 keys and values"},
		"too many maps":            {in(strings.Repeat(`{"a":1},`, 1_000_000)), "more than 4000000 keys and values"},
		"a text that does not end": {in(`"abc`), "this is no JSON"},
		"packed":                   {pack(in("")), ""},
		"packed spaces":            {pack(in(strings.Repeat(" ", 32<<20))), "unpacks to more than 200 times its size"},
		"cut off":                  {pack(in(""))[:30], "unpacking: unexpected EOF"},
		"too large":                {in(strings.Repeat(" ", dataplane.MaxDumpBytes)), "larger than 128 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dataplane.ReadDump("x", []byte(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
