package behavior

import (
	"strings"
	"testing"
)

// FuzzAccessLog: every line of a log is a request or is counted as unread, and what is a request
// can be asked.
func FuzzAccessLog(f *testing.F) {
	for _, seed := range []string{
		`[2026-01-05T10:00:00.000Z] "GET /admin HTTP/1.1" 200 - 0 512 4 3 "192.0.2.7" "Mozilla/5.0" "5b1f" "shop.example.com" "10.0.0.9:8080"`,
		`{"method": "GET", "path": "/health?x=%zz", ":authority": "shop.example.com", "response_code": 404}`,
		`192.0.2.9 - - [05/Jan/2026:10:00:03 +0000] "POST /shop.Cart/Add HTTP/1.1" 200 77 "-" "curl/8.5.0"`,
		`shop.example.com 192.0.2.9 - - [x] "GET http://a.b/c HTTP/2"`, "\"\\\"\n\n{\n[\n",
		`{"method":"GET","path":"http://","host":"-"}`,
	} {
		f.Add(seed + "\n" + seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		log, err := ReadAccessLog(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		made := 0
		for i, r := range log.requests {
			made += log.counts[i]
			if r.method == "" || !strings.HasPrefix(r.target, "/") || strings.ContainsAny(r.host+r.method+r.target,
				"\n") && !strings.Contains(text, `\`) {
				t.Errorf("%+v", r)
			}
			for _, asked := range r.toRequests() {
				if asked.Path == "" && asked.Method == "" {
					t.Errorf("%+v is nothing", r)
				}
			}
		}
		if made+log.unread+log.dropped != log.lines {
			t.Errorf("%d requests, %d unread, %d left out of %d lines", made, log.unread, log.dropped, log.lines)
		}
	})
}
