package behavior

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// mostLogged is how many different requests of a log are compared with changes, and mostLogLine how
// long a line may be.
const (
	maxLoggedRequests = 200_000
	maxLogLine        = 1 << 20
)

// AccessLog holds the requests of an access log: each different one, and how often it was made.
type AccessLog struct {
	lines, unread, hostless, dropped int
	index                            map[loggedRequest]int
	requests                         []loggedRequest
	counts                           []int
}

type loggedRequest struct{ host, method, target string }

// ReadAccessLog reads a log whose lines are JSON objects, text as Envoy writes it, or the common or
// combined format of web servers, in any mixture. Lines that cannot be read are counted.
func ReadAccessLog(r io.Reader) (*AccessLog, error) {
	out := &AccessLog{index: map[loggedRequest]int{}}
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := in.ReadSlice('\n')
		whole := line
		if errors.Is(err, bufio.ErrBufferFull) {
			whole = bytes.Clone(line)
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = in.ReadSlice('\n')
				if len(whole) <= maxLogLine {
					whole = append(whole, line...)
				}
			}
		}
		if text := strings.TrimSpace(string(whole)); text != "" {
			out.addLine(text)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the access log: %w", err)
		}
	}
}

func (l *AccessLog) addLine(line string) {
	l.lines++
	found, ok := readLogLine(line)
	if !ok {
		l.unread++
		return
	}
	if found.host == "" {
		l.hostless++
	}
	at, known := l.index[found]
	if !known {
		if len(l.requests) == maxLoggedRequests {
			l.dropped++
			return
		}
		at = len(l.requests)
		l.index[found] = at
		l.requests, l.counts = append(l.requests, found), append(l.counts, 0)
	}
	l.counts[at]++
}

func readLogLine(line string) (loggedRequest, bool) {
	if len(line) > maxLogLine {
		return loggedRequest{}, false
	}
	if line[0] == '{' {
		return readJSONLine(line)
	}
	return readTextLine(line)
}

// The names that fields have in logs that are JSON. Of a path that was rewritten, the client's is
// wanted.
var (
	logMethods = []string{"method", ":method", "request_method", "http_method", "verb"}
	logPaths   = []string{"x-envoy-origin-path", "x-envoy-original-path", "original_path", "path", ":path",
		"request_path", "request_uri", "uri"}
	logHosts = []string{":authority", "authority", "host", "request_authority", "http_host"}
)

func readJSONLine(line string) (loggedRequest, bool) {
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) != nil {
		return loggedRequest{}, false
	}
	first := func(names []string) string {
		for _, name := range names {
			if text, ok := fields[name].(string); ok && text != "" && text != "-" {
				return text
			}
		}
		return ""
	}
	return newLoggedRequest(first(logMethods), first(logPaths), first(logHosts))
}

// requestLine is the request as logs in text have it.
var requestLine = regexp.MustCompile(`^([A-Z][A-Z-]*) (\S+)(?: HTTP/[0-9.]+)?$`)

// readTextLine reads a line in which the request stands in quotes: one of an Envoy begins with the
// time in brackets and has the host behind the number of the request; those of web servers begin
// with an address, or with a host and an address.
func readTextLine(line string) (loggedRequest, bool) {
	quotes := findQuotedTexts(line)
	if len(quotes) == 0 {
		return loggedRequest{}, false
	}
	parts := requestLine.FindStringSubmatch(quotes[0])
	if parts == nil {
		return loggedRequest{}, false
	}
	host := ""
	before, _, _ := strings.Cut(line, "[")
	switch words := strings.Fields(before); {
	case line[0] == '[' && len(quotes) == 6:
		host = quotes[4]
	case line[0] == '[' && len(quotes) == 7:
		host = quotes[5]
	case line[0] == '[':
	case len(words) == 4:
		host = words[0]
	case len(words) != 3:
		return loggedRequest{}, false
	}
	return newLoggedRequest(parts[1], parts[2], host)
}

// findQuotedTexts returns the texts in quotes of a line, in their order.
func findQuotedTexts(line string) []string {
	var out []string
	for {
		at := strings.IndexByte(line, '"')
		if at < 0 {
			return out
		}
		line = line[at+1:]
		end := 0
		for end < len(line) && line[end] != '"' {
			if line[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(line) {
			return out
		}
		out, line = append(out, line[:end]), line[end+1:]
	}
}

// newLoggedRequest returns the request that a line of a log names; false if the line names none.
func newLoggedRequest(method, target, host string) (loggedRequest, bool) {
	if rest, absolute := strings.CutPrefix(target, "http://"); absolute {
		host, target, _ = strings.Cut(rest, "/")
		target = "/" + target
	}
	if method == "" || !strings.HasPrefix(target, "/") {
		return loggedRequest{}, false
	}
	if host == "-" {
		host = ""
	}
	return loggedRequest{host: strings.ToLower(host), method: method, target: target}, true
}

// toRequests returns the ways to read a logged request: as HTTP, and as gRPC too if it may be a
// gRPC call.
func (l loggedRequest) toRequests() []request.Request {
	host := l.host
	if host == "" {
		host = "any.example"
	}
	r, err := request.New(l.method, "http://"+host+l.target, request.Options{})
	if err != nil {
		return nil
	}
	out := []request.Request{r}
	if path := strings.Trim(r.Path, "/"); l.method == "POST" && strings.Count(path, "/") == 1 {
		if call, err := request.New(l.method, "http://"+host, request.Options{GRPC: path}); err == nil {
			out = append(out, call)
		}
	}
	return out
}
