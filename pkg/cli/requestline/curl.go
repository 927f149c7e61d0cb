package requestline

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
)

// SplitWords splits a text as a shell does. Variables stay as they are written. Without
// quotes, only blanks separate: a & in a URL is part of it.
func SplitWords(text string) ([]string, error) {
	if !strings.ContainsAny(text, `'"\`) {
		return strings.Fields(text), nil
	}
	words, err := shell.Fields(text, func(name string) string { return "$" + name })
	if err != nil {
		return nil, failure.Usage("quote the URL and each header separately", "cannot split %q into shell words: %s",
			text, err)
	}
	return words, nil
}

// readCurl reads the request that a curl command makes. Options that change neither the request nor
// where it goes are ignored; unknown ones are refused, because they may.
func (q *Request) readCurl(words []string) error {
	if len(words) == 0 || words[0] != "curl" {
		return failure.Usage("paste the whole command: --curl 'curl https://…'", "--curl takes a curl command")
	}
	var c curlOptions
	fs := c.newFlagSet()
	if err := fs.Parse(words[1:]); err != nil {
		return failure.Usage("remove the option if it does not change the request", "curl command: %s", err)
	}
	target := c.url
	if target == "" && fs.NArg() > 0 {
		target = fs.Arg(0)
	}
	if target == "" || fs.NArg() > 1 || c.url != "" && fs.NArg() > 0 {
		return failure.Usage("give exactly one URL", "the curl command must name one URL")
	}
	q.URL, q.Method, q.Flags.Options.Headers = c.cleanURL(target), c.requestMethod(fs.Changed), c.sentHeaders()
	q.Flags.Expect = append(q.Flags.Expect, c.expect...)
	if data := c.bodyParts(); c.get && len(data) > 0 {
		separator := "?"
		if strings.Contains(q.URL, "?") {
			separator = "&"
		}
		q.URL += separator + strings.Join(data, "&")
	}
	return q.applyConnectTo(c.connectTo)
}

// curlOptions are the options of curl that are understood.
type curlOptions struct {
	url, request, agent, cookie, referer, upload string
	user                                         string // name:password
	headers, json, form, connectTo               []string
	expect                                       []string    // expectations, only in lines of request files
	data                                         [5][]string // by option
	head, get, asIs                              bool
}

func (c *curlOptions) newFlagSet() *pflag.FlagSet {
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
	fs.StringVarP(&c.user, "user", "u", "", "")
	fs.BoolVar(&c.asIs, "path-as-is", false, "")
	fs.StringArrayVar(&c.connectTo, "connect-to", nil, "")
	fs.StringArrayVar(&c.expect, "expect", nil, "")
	for name, short := range map[string]string{"output": "o", "max-time": "m", "write-out": "w", "cookie-jar": "c",
		"dump-header": "D", "cert": "E",
		"resolve": "", "cacert": "", "key": "", "connect-timeout": "", "retry": "", "tls-max": "", "ciphers": "",
		"max-redirs": "", "limit-rate": ""} {
		fs.StringArrayP(name, short, nil, "")
	}
	for name, short := range map[string]string{"insecure": "k", "location": "L", "silent": "s", "show-error": "S",
		"verbose": "v", "include": "i", "fail": "f",
		"progress-bar": "#", "globoff": "g", "remote-name": "O", "http1.0": "0", "tlsv1": "1", "ipv4": "4",
		"ipv6": "6", "no-buffer": "N",
		"compressed": "", "http1.1": "", "http2": "", "http2-prior-knowledge": "", "http3": "", "tlsv1.2": "",
		"tlsv1.3": "", "fail-with-body": "", "no-progress-meter": ""} {
		fs.BoolP(name, short, false, "")
	}
	return fs
}

// bodyParts returns the data that is sent, or with -G added to the URL. The last of the data
// options encodes what stands behind the =.
func (c *curlOptions) bodyParts() []string {
	out := slices.Concat(append(slices.Clone(c.data[:4]), c.json)...)
	for _, text := range c.data[4] {
		name, value, named := strings.Cut(text, "=")
		switch {
		case !named:
			text = url.QueryEscape(text)
		case name == "":
			text = url.QueryEscape(value)
		default:
			text = name + "=" + url.QueryEscape(value)
		}
		out = append(out, text)
	}
	return out
}

// sentHeaders returns the headers that curl sends: the given ones, less those it is told to leave
// out, and those that options imply.
func (c *curlOptions) sentHeaders() []string {
	var out []string
	given := map[string]bool{}
	for _, h := range c.headers {
		name, value, found := strings.Cut(h, ":")
		given[strings.ToLower(strings.TrimSpace(name))] = true
		switch {
		case found && strings.TrimSpace(value) == "": // left out
		case !found && strings.HasSuffix(h, ";"): // sent without a value
			out = append(out, strings.TrimSuffix(h, ";")+":")
		default:
			out = append(out, h)
		}
	}
	imply := func(name, value string) {
		if value != "" && !given[strings.ToLower(name)] {
			out = append(out, name+": "+value)
		}
	}
	imply("User-Agent", c.agent)
	imply("Cookie", c.cookie)
	imply("Referer", c.referer)
	if c.user != "" {
		imply("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.user)))
	}
	switch {
	case c.get:
	case len(c.json) > 0:
		imply("Content-Type", "application/json")
		imply("Accept", "application/json")
	case len(c.bodyParts()) > 0:
		imply("Content-Type", "application/x-www-form-urlencoded")
	case len(c.form) > 0:
		imply("Content-Type", "multipart/form-data")
	}
	return out
}

// cleanURL takes . and .. out of the path, as curl does unless it is told not to.
func (c *curlOptions) cleanURL(target string) string {
	u, err := url.Parse(target)
	if err != nil || c.asIs || u.Scheme == "" || !strings.Contains(u.Path, "/.") {
		return target
	}
	return u.ResolveReference(u).String()
}

// requestMethod returns the method as it is given, else as the options imply it.
func (c *curlOptions) requestMethod(given func(string) bool) string {
	switch {
	case c.request != "":
		return c.request
	case c.head:
		return "HEAD"
	case c.get:
		return "GET"
	case given("upload-file"):
		return "PUT"
	case len(c.bodyParts())+len(c.form) > 0:
		return "POST"
	}
	return "GET"
}

// applyConnectTo changes the port of the connection as --connect-to HOST:PORT:OTHER:PORT does.
// Which machine it leads to does not matter: Host and server name stay.
func (q *Request) applyConnectTo(rules []string) error {
	u, err := url.Parse(q.URL)
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
			return failure.Usage("write --connect-to HOST:PORT:OTHERHOST:OTHERPORT", "curl command: cannot parse %q",
				rule)
		}
		if (parts[0] == "" || strings.EqualFold(parts[0], u.Hostname())) && (parts[1] == "" || parts[1] == own) &&
			parts[3] != "" {
			q.Flags.Options.Headers = append([]string{"Host: " + u.Hostname()}, q.Flags.Options.Headers...)
			u.Host = u.Hostname() + ":" + parts[3]
			q.URL = u.String()
			break
		}
	}
	return nil
}
