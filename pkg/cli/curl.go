package cli

import (
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"
)

// shellWords splits a text as a shell does. Variables stay as they are written. Without quotes, only blanks separate: a & in a URL is
// part of it.
func shellWords(text string) ([]string, error) {
	if !strings.ContainsAny(text, `'"\`) {
		return strings.Fields(text), nil
	}
	words, err := shell.Fields(text, func(name string) string { return "$" + name })
	if err != nil {
		return nil, usage("put the URL and each header in quotes of their own", "%q cannot be split into words as a shell does: %s", text, err)
	}
	return words, nil
}

// curl reads the request that a curl command makes. Options that do not change which request is made, or where to, are ignored; those that
// are not known are refused, because they may.
func (q *asked) curl(words []string) error {
	if len(words) == 0 || words[0] != "curl" {
		return usage("paste the whole command: --curl 'curl https://…'", "--curl takes a curl command")
	}
	var c curlOptions
	fs := c.flags()
	if err := fs.Parse(words[1:]); err != nil {
		return usage("leave the option out if it does not change the request", "curl command: %s", err)
	}
	target := c.url
	if target == "" && fs.NArg() > 0 {
		target = fs.Arg(0)
	}
	if target == "" || fs.NArg() > 1 || c.url != "" && fs.NArg() > 0 {
		return usage("one URL a command", "the curl command has to name one URL")
	}
	q.url, q.method, q.Headers = target, c.method(fs.Changed), c.headers
	data := c.body()
	if c.get && len(data) > 0 {
		separator := "?"
		if strings.Contains(target, "?") {
			separator = "&"
		}
		q.url += separator + strings.Join(data, "&")
	}
	if len(c.json) > 0 {
		q.Headers = append(q.Headers, "Content-Type: application/json", "Accept: application/json")
	}
	for _, h := range [][2]string{{"User-Agent", c.agent}, {"Cookie", c.cookie}, {"Referer", c.referer}} {
		if h[1] != "" {
			q.Headers = append(q.Headers, h[0]+": "+h[1])
		}
	}
	return q.connectTo(c.connectTo)
}

// curlOptions are the options of curl that are understood.
type curlOptions struct {
	url, request, agent, cookie, referer, upload string
	headers, json, form, connectTo               []string
	data                                         [5][]string // by option
	head, get                                    bool
}

func (c *curlOptions) flags() *pflag.FlagSet {
	fs := pflag.NewFlagSet("curl", pflag.ContinueOnError)
	fs.SetInterspersed(true)
	fs.StringVar(&c.url, "url", "", "")
	fs.StringVarP(&c.request, "request", "X", "", "")
	fs.StringArrayVarP(&c.headers, "header", "H", nil, "")
	for i, name := range []string{"data", "data-raw", "data-binary", "data-ascii", "data-urlencode"} {
		fs.StringArrayVarP(&c.data[i], name, map[string]string{"data": "d"}[name], nil, "")
	}
	fs.StringArrayVar(&c.json, "json", nil, "")
	fs.StringArrayVarP(&c.form, "form", "F", nil, "")
	fs.StringVarP(&c.upload, "upload-file", "T", "", "")
	fs.BoolVarP(&c.head, "head", "I", false, "")
	fs.BoolVarP(&c.get, "get", "G", false, "")
	fs.StringVarP(&c.agent, "user-agent", "A", "", "")
	fs.StringVarP(&c.cookie, "cookie", "b", "", "")
	fs.StringVarP(&c.referer, "referer", "e", "", "")
	fs.StringArrayVar(&c.connectTo, "connect-to", nil, "")
	for name, short := range map[string]string{"output": "o", "user": "u", "max-time": "m", "write-out": "w", "cookie-jar": "c", "dump-header": "D", "cert": "E",
		"resolve": "", "cacert": "", "key": "", "connect-timeout": "", "retry": "", "tls-max": "", "ciphers": "", "max-redirs": "", "limit-rate": ""} {
		fs.StringArrayP(name, short, nil, "")
	}
	for name, short := range map[string]string{"insecure": "k", "location": "L", "silent": "s", "show-error": "S", "verbose": "v", "include": "i", "fail": "f",
		"progress-bar": "#", "globoff": "g", "remote-name": "O", "http1.0": "0", "tlsv1": "1", "ipv4": "4", "ipv6": "6", "no-buffer": "N",
		"compressed": "", "http1.1": "", "http2": "", "http2-prior-knowledge": "", "http3": "", "tlsv1.2": "", "tlsv1.3": "", "fail-with-body": "", "path-as-is": "", "no-progress-meter": ""} {
		fs.BoolP(name, short, false, "")
	}
	return fs
}

// body is the data that is sent, or with -G added to the URL.
func (c *curlOptions) body() []string { return slices.Concat(append(c.data[:], c.json)...) }

// method is the method of the request: as it is given, else what the options imply.
func (c *curlOptions) method(given func(string) bool) string {
	switch {
	case c.request != "":
		return c.request
	case c.head:
		return "HEAD"
	case c.get:
		return "GET"
	case given("upload-file"):
		return "PUT"
	case len(c.body())+len(c.form) > 0:
		return "POST"
	}
	return "GET"
}

// connectTo changes the port of the connection as --connect-to HOST:PORT:OTHER:PORT does. Which machine it leads to is no matter: Host and
// server name stay.
func (q *asked) connectTo(rules []string) error {
	u, err := url.Parse(q.url)
	if err != nil || u.Hostname() == "" {
		return nil // reported when the request is read
	}
	own := u.Port()
	if own == "" {
		own = map[string]string{"https": "443"}[u.Scheme]
	}
	if own == "" {
		own = "80"
	}
	for _, rule := range rules {
		parts := strings.Split(rule, ":")
		if len(parts) != 4 {
			return usage("write --connect-to HOST:PORT:OTHERHOST:OTHERPORT", "curl command: %q cannot be read", rule)
		}
		if (parts[0] == "" || strings.EqualFold(parts[0], u.Hostname())) && (parts[1] == "" || parts[1] == own) && parts[3] != "" {
			q.Headers = append([]string{"Host: " + u.Hostname()}, q.Headers...)
			u.Host = u.Hostname() + ":" + parts[3]
			q.url = u.String()
			break
		}
	}
	return nil
}
