package protect

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// RequestReader is a request that gates look at. It notes the tests that they make, so that
// requests can be told apart by them. A function makes its tests before it decides by one of them:
// a test that depends on another one may stay unnoticed.
type RequestReader struct {
	Request   *request.Request
	tests     []request.Test
	hostRead  bool // it was looked at
	routeRead bool // the route or its rule was looked at

	results  map[request.Test]bool
	cache    map[any]any
	compiled map[string]*regexp.Regexp // shared by all requests of a judge; nil: each compiles its own
}

// Cached returns what was made for a key and this request before, else what make makes now: gates
// of several properties often need the same.
func (l *RequestReader) Cached(key any, make func() any) any {
	if known, ok := l.cache[key]; ok {
		return known
	}
	made := make()
	if l.cache == nil {
		l.cache = map[any]any{}
	}
	l.cache[key] = made
	return made
}

// Host returns the host of the request, "" if it is not known. Requests are not told apart by it:
// the one of a class stands for all hosts that no hostname tells apart.
func (l *RequestReader) Host() string {
	l.hostRead = true
	return l.Request.Host
}

// Passes reports whether the request passes a test.
func (l *RequestReader) Passes(t request.Test) bool {
	if known, ok := l.results[t]; ok {
		return known
	}
	if l.results == nil {
		l.results = map[request.Test]bool{}
	}
	l.tests = append(l.tests, t)
	l.results[t] = l.runTest(t)
	return l.results[t]
}

// runTest runs a test. Of a header that is repeated, one value that passes is enough.
func (l *RequestReader) runTest(t request.Test) bool {
	if t.Aspect == request.AspectHeader {
		return slices.ContainsFunc(l.Request.Headers, func(h request.Field) bool {
			return strings.EqualFold(h.Name, t.Name) && l.isTextPassing(t, h.Value)
		})
	}
	value, present := l.testedValue(t)
	return present && l.isTextPassing(t, value)
}

// isTextPassing reports whether a text passes a test.
func (l *RequestReader) isTextPassing(t request.Test, value string) bool {
	switch t.Form {
	case request.Exact:
		return value == t.Value
	case request.Prefix:
		rest, found := strings.CutPrefix(value, t.Value)
		return found && (rest == "" || rest[0] == '/')
	}
	re := l.compileExpression(`\A(?:` + t.Value + `)\z`)
	return re != nil && re.MatchString(value)
}

// compileExpression compiles an expression, once for all requests of a judge; nil: it cannot be
// compiled.
func (l *RequestReader) compileExpression(expr string) *regexp.Regexp {
	if re, known := l.compiled[expr]; known {
		return re
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		re = nil
	}
	if l.compiled != nil {
		l.compiled[expr] = re
	}
	return re
}

func (l *RequestReader) testedValue(t request.Test) (string, bool) {
	r := l.Request
	switch t.Aspect {
	case request.AspectPath:
		return r.Path, true
	case request.AspectMethod:
		return r.Method, true
	case request.AspectQuery:
		return findField(r.Query, t.Name, false)
	case request.AspectService:
		return r.Service, true
	case request.AspectCall:
		return r.Call, true
	}
	return "", false
}

// IsMethod reports whether the request has one of some methods.
func (l *RequestReader) IsMethod(methods ...string) bool {
	found := false
	for _, m := range methods {
		found = l.Passes(request.Test{Aspect: request.AspectMethod, Value: strings.ToUpper(m)}) || found
	}
	return found
}

// IsPath reports whether the path is a text.
func (l *RequestReader) IsPath(path string) bool {
	return l.Passes(request.Test{Aspect: request.AspectPath, Value: path})
}

// IsUnderPath reports whether the path is a text, or below it element by element.
func (l *RequestReader) IsUnderPath(path string) bool {
	return l.Passes(request.Test{Aspect: request.AspectPath, Form: request.Prefix,
		Value: strings.TrimSuffix(path, "/")})
}

// PathMatches reports whether an expression matches the whole path. known is false where the
// expression cannot be read.
func (l *RequestReader) PathMatches(expr string) (matches, known bool) {
	return l.matchExpression(request.Test{Aspect: request.AspectPath, Form: request.Expression, Value: expr})
}

// HeaderMatches reports whether a header is there and an expression matches all of it.
func (l *RequestReader) HeaderMatches(name, expr string) (matches, known bool) {
	return l.matchExpression(request.Test{Aspect: request.AspectHeader, Name: strings.ToLower(name),
		Form: request.Expression, Value: expr})
}

func (l *RequestReader) matchExpression(t request.Test) (matches, known bool) {
	if model.PatternSize(t.Value) <= 0 {
		return false, false
	}
	t.Value = "^(?:" + t.Value + ")$"
	return l.Passes(t), true
}

// HasHeader reports whether a header is there.
func (l *RequestReader) HasHeader(name string) bool {
	found, _ := l.HeaderMatches(name, "(?s:.*)")
	return found
}

// HeaderIs reports whether a header has a value.
func (l *RequestReader) HeaderIs(name, value string) bool {
	return l.Passes(request.Test{Aspect: request.AspectHeader, Name: strings.ToLower(name), Value: value})
}

func findField(fields []request.Field, name string, fold bool) (string, bool) {
	for _, f := range fields {
		if f.Name == name || fold && strings.EqualFold(f.Name, name) {
			return f.Value, true
		}
	}
	return "", false
}

// hasCookie reports whether the value of a Cookie header has a cookie of a name.
func hasCookie(header, name string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		if found, _, _ := strings.Cut(pair, "="); strings.TrimSpace(found) == name {
			return true
		}
	}
	return false
}

// LacksCredential reports whether the request has no credential at the given places: "header NAME",
// "query NAME", "cookie", "cookie NAME". Without a place it lacks one if it has no header and no
// parameter at all. What stands in the "connection" is never known from a request.
func (l *RequestReader) LacksCredential(places []string) bool {
	if len(places) == 0 {
		return len(l.Request.Headers) == 0 && len(l.Request.Query) == 0
	}
	return !slices.ContainsFunc(places, l.HasCredential)
}

// HasCredential reports whether the request has anything at a place where credentials are; see
// LacksCredential.
func (l *RequestReader) HasCredential(place string) bool {
	where, name, _ := strings.Cut(place, " ")
	switch where {
	case "header":
		_, found := findField(l.Request.Headers, name, true)
		return found
	case "query":
		_, found := findField(l.Request.Query, name, false)
		return found
	case "cookie":
		cookies, found := findField(l.Request.Headers, "cookie", true)
		return found && (name == "" || hasCookie(cookies, name))
	}
	return true
}
