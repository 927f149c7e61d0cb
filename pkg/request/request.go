package request

import (
	"fmt"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Protocol is what a client speaks.
type Protocol string

// The protocols. HTTP and GRPC may come over TLS; TLS is a connection of which nothing but the
// server name is known.
const (
	HTTP Protocol = "HTTP"
	GRPC Protocol = "gRPC"
	TLS  Protocol = "TLS"
	TCP  Protocol = "TCP"
	UDP  Protocol = "UDP"
)

// Field is a header or a query parameter.
type Field struct{ Name, Value string }

// Request is a request, or a connection, as its client makes it.
type Request struct {
	Protocol Protocol
	Secure   bool   // HTTP or gRPC over TLS
	Address  string // what the URL names: the host that is connected to, in the mesh a Service or a pod's address
	Port     int32
	Host     string // of the Host header, without a port, in lower case
	HostText string // likewise, as it is written; does not count if it is another one
	HostPort string // that the Host header has, as it is written; "": none
	SNI      string // the server name of a TLS connection
	Method   string
	Path     string // as given, without the query
	Query    []Field
	RawQuery string // as it is written; "": as Query has it
	Headers  []Field
	Service  string    // of gRPC
	Call     string    // the method of gRPC
	From     string    // the namespace of a client in the mesh; "" for traffic through a Gateway
	Client   model.Ref // the workload that sends it; zero: it is not asked about
	Circumstances
	Text string // how it reads
}

// Options are what a request is described with besides its method and URL.
type Options struct {
	Headers  []string // "name: value"
	SNI      string
	GRPC     string // service/method
	Protocol string // TLS, TCP or UDP
	From     string // the client's namespace, in the mesh
	Circumstances
}

// UsageError says what is wrong with the description of a request.
type UsageError struct{ What, Hint string }

func (e *UsageError) Error() string { return e.What }

func newUsageError(hint, format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...), hint}
}

// New reads a request. The URL's host and port are those of the connection; its host is also the
// Host header and the server name, unless the options say otherwise. Without a scheme it is http,
// without a port 80 or, with https, 443. The error is a *UsageError.
func New(method, rawURL string, o Options) (Request, error) {
	u, err := parseURL(rawURL)
	if err != nil {
		return Request{}, err
	}
	r := Request{Protocol: HTTP, Secure: u.Scheme == "https", Address: strings.ToLower(u.Hostname()), Method: method,
		Path: rawPath(rawURL), From: o.From, Circumstances: o.Circumstances}
	if r.Port, err = parsePort(u); err != nil {
		return Request{}, err
	}
	r.Query, r.RawQuery = readQuery(u.RawQuery), u.RawQuery
	r.Host, r.SNI, r.HostText = r.Address, r.Address, u.Hostname()
	if standardPorts[u.Scheme] != int64(r.Port) { // clients write no port that goes without saying
		r.HostPort = strconv.Itoa(int(r.Port))
	}
	if err := r.readHeaders(o.Headers); err != nil {
		return Request{}, err
	}
	switch {
	case o.SNI != "":
		r.SNI = strings.ToLower(o.SNI)
	case isAddress(r.Address): // a client that dials an address names the host that it means
		r.SNI = r.Host
	}
	switch {
	case o.GRPC != "" && o.Protocol != "":
		return Request{}, newUsageError("gRPC is asked for with --grpc alone",
			"--grpc and --protocol cannot be given together")
	case o.GRPC != "":
		r.Protocol = GRPC
		var found bool
		if r.Service, r.Call, found = strings.Cut(strings.TrimPrefix(o.GRPC, "/"), "/"); !found || r.Service == "" ||
			r.Call == "" {
			return Request{}, newUsageError("write --grpc package.Service/Method",
				"%q is not a gRPC service and method", o.GRPC)
		}
		r.Method, r.Path, r.Query, r.RawQuery = "POST", "/"+r.Service+"/"+r.Call, nil, ""
	case o.Protocol != "":
		r.Protocol = Protocol(strings.ToUpper(o.Protocol))
		if !slices.Contains([]Protocol{TLS, TCP, UDP}, r.Protocol) {
			return Request{}, newUsageError("use one of: TLS, TCP, UDP; HTTP and HTTPS are told by the URL",
				"unknown protocol %q", o.Protocol)
		}
		r.Secure = false
		if r.Protocol == TLS && u.Port() == "" {
			r.Port = 443
		}
	}
	r.Text = r.formatText()
	return r, nil
}

// hasScheme reports whether a URL begins with a scheme; in a query there may be another URL.
func hasScheme(raw string) bool {
	scheme, _, found := strings.Cut(raw, "://")
	return found && !strings.ContainsAny(scheme, "/?#")
}

func parseURL(raw string) (*url.URL, error) {
	hint := "write it as https://shop.example.com/cart?q=1"
	if !hasScheme(raw) {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, newUsageError(hint, "%q is not a URL", raw)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case !slices.Contains([]string{"http", "https", "grpc", "grpcs", "ws", "wss", "tcp", "udp", "tls"}, u.Scheme):
		return nil, newUsageError("use http or https", "unknown URL scheme %q", u.Scheme)
	case u.Hostname() == "":
		return nil, newUsageError(hint, "the URL %q names no host", raw)
	}
	switch u.Scheme {
	case "wss", "grpcs":
		u.Scheme = "https"
	case "https":
	default:
		u.Scheme = "http"
	}
	return u, nil
}

// rawPath returns the path of a URL as it is written, without decoding or normalization (gatewayapi
// G46).
func rawPath(raw string) string {
	if hasScheme(raw) {
		_, raw, _ = strings.Cut(raw, "://")
	}
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	if at := strings.IndexByte(raw, '/'); at >= 0 {
		return raw[at:]
	}
	return "/"
}

func parsePort(u *url.URL) (int32, error) {
	switch {
	case u.Port() != "":
		n, err := strconv.ParseUint(u.Port(), 10, 16)
		if err != nil || n == 0 {
			return 0, newUsageError("ports are 1 to 65535", "%q is not a port", u.Port())
		}
		return int32(n), nil
	case u.Scheme == "https":
		return 443, nil
	}
	return 80, nil
}

// readQuery reads the parameters in order. What cannot be decoded stays as it is written.
func readQuery(raw string) []Field {
	out := splitQuery(raw)
	for i, q := range out {
		out[i] = Field{unescapeQuery(q.Name), unescapeQuery(q.Value)}
	}
	return out
}

// splitQuery returns the parameters in order, as they are written.
func splitQuery(raw string) []Field {
	var out []Field
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		out = append(out, Field{name, value})
	}
	return out
}

func unescapeQuery(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// readHeaders takes the headers; that of the host counts without its port.
func (r *Request) readHeaders(headers []string) error {
	for _, h := range headers {
		name, value, found := strings.Cut(h, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" {
			return newUsageError("write -H 'name: value'", "%q is not a header", h)
		}
		if strings.EqualFold(name, "Host") {
			host, port := value, ""
			if u, err := url.Parse("http://" + value); err == nil && u.Hostname() != "" {
				host, port = u.Hostname(), u.Port()
			}
			r.Host, r.HostText, r.HostPort = strings.ToLower(host), host, port
			continue
		}
		r.Headers = append(r.Headers, Field{name, value})
	}
	return nil
}

// isAddress reports whether a host is an address, which no hostname matches.
func isAddress(host string) bool {
	if last := len(host) - 1; last < 0 || !strings.Contains(host, ":") && (host[last] < '0' || host[last] > '9') {
		return false // as most are
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// findHeader returns the value of the first header of that name.
func (r *Request) findHeader(name string) (string, bool) {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value, true
		}
	}
	if strings.EqualFold(name, "Host") {
		return r.Host, true
	}
	return "", false
}

// writtenHost returns the host as the client writes it.
func (r *Request) writtenHost() string {
	if strings.EqualFold(r.HostText, r.Host) {
		return r.HostText
	}
	return r.Host
}

// findParameter returns the value of the first query parameter of that name.
func (r *Request) findParameter(name string) (string, bool) {
	for _, q := range r.Query {
		if q.Name == name {
			return q.Value, true
		}
	}
	return "", false
}

// scheme returns the scheme of the request's URL.
func (r *Request) scheme() string { return chooseText(r.Secure, "https", "http") }

// Complete fills in what follows from the rest of the request: how it reads, and the query as it is
// written.
func (r *Request) Complete() {
	if r.RawQuery == "" {
		var parts []string
		for _, q := range r.Query {
			parts = append(parts, q.Name+"="+q.Value)
		}
		r.RawQuery = strings.Join(parts, "&")
	}
	r.Text = r.formatText()
}

// Target returns the path and the query as they are sent.
func (r *Request) Target() string {
	if r.RawQuery == "" {
		return r.Path
	}
	return r.Path + "?" + r.RawQuery
}

// formatText returns the request in one line.
func (r *Request) formatText() string {
	address := r.Address
	if strings.Contains(address, ":") {
		address = "[" + address + "]"
	}
	at := address + ":" + strconv.Itoa(int(r.Port))
	scheme := r.scheme()
	if r.Port == 80 && !r.Secure || r.Port == 443 && r.Secure {
		at = address
	}
	var s string
	switch r.Protocol {
	case HTTP:
		s = r.Method + " " + scheme + "://" + at + r.Path
		for i, q := range r.Query {
			s += string("?&"[min(i, 1)]) + q.Name + "=" + q.Value
		}
	case GRPC:
		s = "gRPC " + r.Service + "/" + r.Call + " at " + scheme + "://" + at
	default:
		s = string(r.Protocol) + " connection to " + address + ":" + strconv.Itoa(int(r.Port))
	}
	if r.Host != r.Address {
		s += ", Host " + r.Host
	}
	if (r.Secure || r.Protocol == TLS) && r.SNI != r.Host {
		s += ", server name " + r.SNI
	}
	for _, h := range r.Headers {
		s += ", " + h.Name + ": " + h.Value
	}
	if r.From != "" {
		s += ", from namespace " + r.From
	}
	return s
}
