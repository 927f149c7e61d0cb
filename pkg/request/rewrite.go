package request

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// Sent is a request as a backend gets it.
type Sent struct{ Method, Host, Path string }

// The words of the Gateway API for what becomes of a path.
const (
	replaceFullPath    = "ReplaceFullPath"
	replacePrefixMatch = "ReplacePrefixMatch"
)

// buildSent says what a backend gets of the request that the chosen rule takes; nil: it gets none,
// another rule decides, or it is a connection of which the Gateway sees no request.
func (t *trace) buildSent(body model.Body) *Sent {
	r, by := t.request, t.sure[0].match
	if len(t.answer.Backends) == 0 || t.delegation != "" || by == nil || r.Protocol != HTTP && r.Protocol != GRPC {
		return nil
	}
	out := &Sent{Method: r.Method, Host: r.writtenHost(), Path: r.Path}
	if t.normalization.Decode == normalize.DecodeAll { // what is decoded is only compared
		out.Path = t.answer.Request.Path
	}
	for _, f := range body.Field("filters").Items {
		if f.Text("type") != "URLRewrite" {
			continue
		}
		to := f.Field("urlRewrite")
		if host := to.Text("hostname"); host != "" {
			out.Host = host
		}
		if path := to.Field("path"); path.Text("type") != "" {
			out.Path = t.replacePath(path, by, t.settings.Rewrite)
		}
		break
	}
	return out
}

// replacePath returns the path of the request with what a filter replaces of it, for a rule that
// takes the request by a match; nil: by none with a path. ways say how the data plane does it.
func (t *trace) replacePath(to model.Body, by *match, ways []routing.Replacement) string {
	path := t.request.Path
	switch to.Text("type") {
	case replaceFullPath:
		return to.Text("replaceFullPath")
	case replacePrefixMatch:
		if by == nil || by.grpc || by.path.form != prefix {
			return path
		}
		with := to.Text("replacePrefixMatch")
		t.noteReplacement(path, by.path.value, with, ways)
		return replacePrefix(path, by.path.value, with, ways)
	}
	return path
}

// knownReplacements are the ways in which data planes are known to replace a prefix.
var knownReplacements = [][]routing.Replacement{{routing.ReplaceCharacters},
	{routing.ReplaceCharacters, routing.TidyRoot}, {routing.ReplaceCharacters, routing.TrimReplacement, routing.TidyRoot}}

// noteReplacement notes that it is not known how the data plane replaces a prefix, where those of
// which it is known do it otherwise than the Gateway API says.
func (t *trace) noteReplacement(path, matched, with string, ways []routing.Replacement) {
	if ways != nil {
		return
	}
	for _, other := range knownReplacements {
		if instead := replacePrefix(path, matched, with, other); instead != replacePrefix(path, matched, with, nil) {
			t.answer.addProblem(model.Info, model.NotEvaluated, t.sure[0].object, fmt.Sprintf(
				"prefix %s is replaced by %s as the Gateway API says; some implementations make %s of %s", matched,
				chooseText(with == "", "nothing", with), instead, path), "")
			return
		}
	}
}

// replacePrefix returns a path with another prefix in the place of the one that matched. The Gateway
// API neither loses nor doubles a slash between the two; a data plane that replaces characters does.
func replacePrefix(path, written, with string, ways []routing.Replacement) string {
	matched := trimSlash(written)
	if !slices.Contains(ways, routing.ReplaceCharacters) {
		if rest := strings.TrimPrefix(path, matched); rest != "" {
			return trimSlash(with) + rest
		}
		if slices.Contains(ways, routing.TrimReplacement) {
			with = trimSlash(with)
		}
		return chooseText(with == "", "/", with)
	}
	if tidies := slices.Contains(ways, routing.TidyRoot) && with == "/"; tidies && written != matched && path == matched {
		return path // an expression of the prefix with its slash does not match
	}
	rest := strings.TrimPrefix(path, chooseText(matched == "", "/", matched))
	if slices.Contains(ways, routing.TrimReplacement) || with == "" {
		with = chooseText(trimSlash(with) == "", "/", trimSlash(with))
	}
	switch {
	case with != "/":
	case slices.Contains(ways, routing.TidyRoot):
		rest = strings.TrimLeft(rest, "/")
	case slices.Contains(ways, routing.TidySlash):
		rest = strings.TrimPrefix(rest, "/")
	}
	return with + rest
}

// buildLocation says where a RequestRedirect filter of a rule leads that takes the request by a
// match; nil: by none with a path.
func (t *trace) buildLocation(f model.Body, by *match) *Location {
	r, l := t.request, &Location{Status: 302}
	if code, ok := f.Field("statusCode").Value().(int64); ok {
		l.Status = int(code)
	}
	own := r.scheme()
	scheme, host := f.Text("scheme"), f.Text("hostname")
	given, hasPort := f.Field("port").Value().(int64)
	port := t.chooseRedirectPort(scheme, host, given, hasPort)
	if host == "" {
		host = r.writtenHost()
	}
	if scheme == "" {
		scheme = own
	}
	path := t.replacePath(f.Field("path"), by, t.settings.Redirect)
	l.URL = scheme + "://" + bracketAddress(host)
	if port != 0 {
		l.URL += ":" + strconv.FormatInt(port, 10)
	}
	l.URL += path + r.formatQuery()
	if port == 0 {
		port = standardPorts[scheme]
	}
	l.loops = scheme == own && strings.EqualFold(host, r.Host) && port == int64(r.Port) && path == r.Path
	return l
}

// chooseRedirectPort returns the port that the Location of a redirect has; 0: none. scheme and host
// are those that the redirect gives, if any.
func (t *trace) chooseRedirectPort(scheme, host string, given int64, hasPort bool) int64 {
	r, s := t.request, t.settings
	own := r.scheme()
	written, _ := strconv.ParseInt(r.HostPort, 10, 32)
	all, asWritten := s.RedirectPort == routing.AllPorts, s.RedirectHost == routing.HostAsWritten && host == ""
	switch {
	case hasPort && all:
		return given
	case hasPort:
	case all && scheme != "":
		return 0
	case all:
		return written
	case scheme != "": // the scheme's own port
		given = standardPorts[scheme]
	default:
		given = int64(r.Port)
	}
	if given == standardPorts[cmp.Or(scheme, own)] ||
		s.RedirectPort == routing.Never80Or443 && (given == 80 || given == 443) {
		given = 0
	}
	changed := scheme != "" && scheme != own && written == standardPorts[own]
	if given == 0 && asWritten && !changed {
		return written
	}
	return given
}

// formatQuery returns the query with its question mark, as it is written; "" if there is none.
func (r *Request) formatQuery() string {
	if r.RawQuery != "" {
		return "?" + r.RawQuery
	}
	out := ""
	for i, q := range r.Query {
		out += string("?&"[min(i, 1)]) + q.Name + "=" + q.Value
	}
	return out
}

// FormatURL returns the URL of the request at the port that it came to.
func (r *Request) FormatURL() string {
	scheme := r.scheme()
	out := scheme + "://" + bracketAddress(r.writtenHost())
	if int64(r.Port) != standardPorts[scheme] {
		out += ":" + strconv.Itoa(int(r.Port))
	}
	return out + r.Path + r.formatQuery()
}

// standardPorts are the ports that a URL leaves out.
var standardPorts = map[string]int64{"http": 80, "https": 443}

func bracketAddress(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}
