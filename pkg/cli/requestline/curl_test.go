package requestline

import (
	"errors"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// TestCurl: the request that a pasted curl command makes.
func TestCurl(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"plain", `curl https://shop.example.com/cart`, "GET https://shop.example.com/cart"},
		{"without a scheme", `curl shop.example.com/cart`, "GET shop.example.com/cart"},
		{"several lines", "curl 'https://shop.example.com/cart' \\\n  -H 'x-team: blue' \\\n  --compressed",
			"GET https://shop.example.com/cart | x-team: blue"},
		{"as browsers copy it",
			"curl 'https://shop.example.com/cart?a=1&b=2' \\\n  -H 'accept: */*' \\\n  -b 'sid=1; x=2' \\\n  --data-raw $'it\\'s\\n\\u0041' \\\n  --insecure",
			"POST https://shop.example.com/cart?a=1&b=2 | accept: */* | Cookie: sid=1; x=2 | Content-Type: application/x-www-form-urlencoded"},
		{"ANSI-C quotes around a header", `curl https://h/ -H $'x-a: it\'s'`, "GET https://h/ | x-a: it's"},
		{"double quotes", `curl "https://h/a b" -H "x: \"1\""`, `GET https://h/a b | x: "1"`},
		{"ampersand without quotes", `curl https://h/?a=1&b=2`, "GET https://h/?a=1&b=2"},
		{"variables stay", `curl "https://h/" -H "authorization: Bearer $TOKEN"`,
			"GET https://h/ | authorization: Bearer $TOKEN"},
		{"method", `curl -X DELETE https://h/`, "DELETE https://h/"},
		{"method, joined", `curl -XPUT https://h/`, "PUT https://h/"},
		{"data", `curl https://h/ -d a=1`, "POST https://h/ | Content-Type: application/x-www-form-urlencoded"},
		{"data and method", `curl https://h/ -X PATCH -d a=1`,
			"PATCH https://h/ | Content-Type: application/x-www-form-urlencoded"},
		{"data of other sorts", `curl https://h/ --data-urlencode 'a=b c' --data-binary @file`,
			"POST https://h/ | Content-Type: application/x-www-form-urlencoded"},
		{"form", `curl https://h/ -F a=@b`, "POST https://h/ | Content-Type: multipart/form-data"},
		{"upload", `curl -T file https://h/`, "PUT https://h/"},
		{"head", `curl -I https://h/`, "HEAD https://h/"},
		{"get with data", `curl -G https://h/x -d a=1 -d b=2`, "GET https://h/x?a=1&b=2"},
		{"get with data and a query", `curl -G 'https://h/x?z=0' -d a=1`, "GET https://h/x?z=0&a=1"},
		{"get with data to encode",
			`curl -G https://h/ --data-urlencode 'a=b c' --data-urlencode '=d&e' --data-urlencode 'f g'`,
			"GET https://h/?a=b+c&d%26e&f+g"},
		{"a content type of its own", `curl https://h/ -d '{}' -H 'content-type: application/json'`,
			"POST https://h/ | content-type: application/json"},
		{"a header left out", `curl https://h/ -H 'Accept:' -H 'X-Empty;'`, "GET https://h/ | X-Empty:"},
		{"user", `curl -u me:secret https://h/`, "GET https://h/ | Authorization: Basic bWU6c2VjcmV0"},
		{"dots in the path", `curl 'https://h/a/../b/./c?q=1'`, "GET https://h/b/c?q=1"},
		{"dots in the path, as is", `curl --path-as-is https://h/a/../b`, "GET https://h/a/../b"},
		{"json", `curl --json '{"a":1}' https://h/`,
			"POST https://h/ | Content-Type: application/json | Accept: application/json"},
		{"agent and referer", `curl -A me -e https://r/ https://h/`,
			"GET https://h/ | User-Agent: me | Referer: https://r/"},
		{"options together", `curl -sSLk https://h/`, "GET https://h/"},
		{"options with values that do not matter",
			`curl -o /dev/null -w '%{http_code}' -m 5 --resolve h:443:10.0.0.1 https://h/`, "GET https://h/"},
		{"--url", `curl --url https://h/ -s`, "GET https://h/"},
		{"Host", `curl http://10.0.0.1/ -H 'Host: shop.example.com'`, "GET http://10.0.0.1/ | Host: shop.example.com"},
		{"another port", `curl --connect-to shop.example.com:443:gw.example.com:8443 https://shop.example.com/cart`,
			"GET https://shop.example.com:8443/cart | Host: shop.example.com"},
		{"any host to another port", `curl --connect-to ::gw:8080 http://shop.example.com/`,
			"GET http://shop.example.com:8080/ | Host: shop.example.com"},
		{"another host, the same port",
			`curl --connect-to shop.example.com:443:gw.example.com: https://shop.example.com/`,
			"GET https://shop.example.com/"},
		{"of another host", `curl --connect-to other.com:443:gw:8443 https://shop.example.com/`,
			"GET https://shop.example.com/"},
		{"of another port", `curl --connect-to shop.example.com:444:gw:8443 https://shop.example.com/`,
			"GET https://shop.example.com/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q Request
			if err := q.ReadTyped(nil, c.command); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(append([]string{q.Method + " " + q.URL}, q.Flags.Options.Headers...),
				" | "); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestCurlRefuses: what may change the request and is not understood is not guessed.
func TestCurlRefuses(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{`wget https://h/`, "--curl takes a curl command"},
		{``, "a request needs a URL"}, // no --curl at all
		{`curl`, "must name one URL"},
		{`curl -s`, "must name one URL"},
		{`curl https://a/ https://b/`, "must name one URL"},
		{`curl --url https://a/ https://b/`, "must name one URL"},
		{`curl --proxy http://p/ https://h/`, "unknown flag: --proxy"},
		{`curl -x http://p/ https://h/`, "unknown shorthand flag: 'x'"},
		{`curl --next https://h/`, "unknown flag: --next"},
		{`curl https://h/ -H`, "needs an argument"},
		{`curl 'https://h/`, "into shell words"},
		{`curl "https://h/$(whoami)"`, "into shell words"},
		{`curl --connect-to gw:8443 https://h/`, `cannot parse "gw:8443"`},
	} {
		t.Run(c.command, func(t *testing.T) {
			var q Request
			err := q.ReadTyped(nil, c.command)
			var use *failure.UsageError
			if !errors.As(err, &use) || !strings.Contains(use.What, c.want) || use.Hint == "" {
				t.Errorf("got %v, want %q with a hint", err, c.want)
			}
		})
	}
	var q Request
	if err := q.ReadTyped([]string{"https://h/"}, "curl https://h/"); err == nil ||
		!strings.Contains(err.Error(), "together") {
		t.Errorf("a URL beside --curl: %v", err)
	}
}

// TestParseRequest: a line of a file of requests.
func TestParseRequest(t *testing.T) {
	for _, c := range []struct{ line, want, fails string }{
		{line: `GET https://h/a`, want: "GET https://h/a"},
		{line: `https://h/a`, want: "GET https://h/a"},
		{line: `post 'https://h/a?x=1&y=2' -H 'x: a b' --gateway infra/gw --listener l --sni s --from-namespace n`,
			want: "POST https://h/a?x=1&y=2 x: a b infra/gw l s n"},
		{line: `http://h --grpc s/m`, want: "GET http://h s/m"},
		{line: `db:5432 --protocol TCP`, want: "GET db:5432 TCP"},
		{line: `curl -X PUT https://h/`, want: "PUT https://h/"},
		{line: `GET https://h/a?x=1&y=2 --sni s`, want: "GET https://h/a?x=1&y=2 s"},
		{line: `GET https://h/a b`, fails: "needs a URL"},
		{line: `GET https://h/ --output json`, fails: "unknown flag"},
		{line: `GET 'https://h/`, fails: "cannot split"},
	} {
		q, err := Parse(c.line)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: %v, want %q", c.line, err, c.fails)
			}
			continue
		}
		got := strings.Join(strings.Fields(strings.Join([]string{q.Method, q.URL, strings.Join(q.Flags.Options.Headers,
			" "), q.Flags.Gateway, q.Flags.Listener, q.Flags.Options.SNI, q.Flags.Options.GRPC,
			q.Flags.Options.Protocol, q.Flags.Options.From}, " ")), " ")
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.line, got, err, c.want)
		}
	}
}

// FuzzCurl: no text that is pasted panics, and none that is taken is without a URL.
func FuzzCurl(f *testing.F) {
	f.Add(`curl -G 'https://h/x?z=0' -d a=1 --connect-to ::gw:8443 \` + "\n" + `-H $'a: \'b'`)
	f.Fuzz(func(t *testing.T, command string) {
		var q Request
		if err := q.ReadTyped(nil, command); err != nil {
			return
		}
		if q.URL == "" || q.Method == "" {
			t.Errorf("%q gives %+v", command, q)
		}
		_, _ = request.New(q.Method, q.URL, q.Flags.Options)
	})
}
