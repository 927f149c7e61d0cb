package protect

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Look is a request that gates look at. The tests that they make are noted, so that requests can be told apart by them. A function makes
// its tests before it decides by one of them: a test that depends on another one may stay unnoticed.
type Look struct {
	Request *request.Request
	tests   []request.Test
	host    bool // it was looked at
	route   bool // the route or its rule was looked at

	told     map[request.Test]bool
	kept     map[any]any
	compiled map[string]*regexp.Regexp // shared by all requests of a judge; nil: each compiles its own
}

// Kept is what was made for a key and this request before, else what make makes now: gates of several
// properties often need the same.
func (l *Look) Kept(key any, make func() any) any {
	if known, ok := l.kept[key]; ok {
		return known
	}
	made := make()
	if l.kept == nil {
		l.kept = map[any]any{}
	}
	l.kept[key] = made
	return made
}

// Host is the host of the request, "" if it is not known. Requests are not told apart by it: the one
// of a class stands for all hosts that no hostname tells apart.
func (l *Look) Host() string {
	l.host = true
	return l.Request.Host
}

// Holds reports whether the request passes a test.
func (l *Look) Holds(t request.Test) bool {
	if known, ok := l.told[t]; ok {
		return known
	}
	if l.told == nil {
		l.told = map[request.Test]bool{}
	}
	l.tests = append(l.tests, t)
	l.told[t] = l.holds(t)
	return l.told[t]
}

func (l *Look) holds(t request.Test) bool {
	value, present := l.value(t)
	if !present {
		return false
	}
	switch t.Form {
	case request.Exact:
		return value == t.Value
	case request.Prefix:
		rest, found := strings.CutPrefix(value, t.Value)
		return found && (rest == "" || rest[0] == '/')
	}
	re := l.compile(`\A(?:` + t.Value + `)\z`)
	return re != nil && re.MatchString(value)
}

// compile compiles an expression, once for all requests of a judge; nil: it is none.
func (l *Look) compile(expr string) *regexp.Regexp {
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

func (l *Look) value(t request.Test) (string, bool) {
	r := l.Request
	switch t.Of {
	case request.AspectPath:
		return r.Path, true
	case request.AspectMethod:
		return r.Method, true
	case request.AspectHeader:
		return fieldOf(r.Headers, t.Name, true)
	case request.AspectQuery:
		return fieldOf(r.Query, t.Name, false)
	case request.AspectService:
		return r.Service, true
	case request.AspectCall:
		return r.Call, true
	}
	return "", false
}

// IsMethod reports whether the request has one of some methods.
func (l *Look) IsMethod(methods ...string) bool {
	found := false
	for _, m := range methods {
		found = l.Holds(request.Test{Of: request.AspectMethod, Value: strings.ToUpper(m)}) || found
	}
	return found
}

// IsPath reports whether the path is a text.
func (l *Look) IsPath(path string) bool {
	return l.Holds(request.Test{Of: request.AspectPath, Value: path})
}

// IsUnderPath reports whether the path is a text, or below it element by element.
func (l *Look) IsUnderPath(path string) bool {
	return l.Holds(request.Test{Of: request.AspectPath, Form: request.Prefix, Value: strings.TrimSuffix(path, "/")})
}

// PathMatches reports whether an expression matches the whole path. known is false where the expression cannot be read.
func (l *Look) PathMatches(expr string) (matches, known bool) {
	return l.matches(request.Test{Of: request.AspectPath, Form: request.Expression, Value: expr})
}

// HeaderMatches reports whether a header is there and an expression matches all of it.
func (l *Look) HeaderMatches(name, expr string) (matches, known bool) {
	return l.matches(request.Test{Of: request.AspectHeader, Name: strings.ToLower(name), Form: request.Expression, Value: expr})
}

func (l *Look) matches(t request.Test) (matches, known bool) {
	if model.PatternSize(t.Value) <= 0 {
		return false, false
	}
	t.Value = "^(?:" + t.Value + ")$"
	return l.Holds(t), true
}

// HasHeader reports whether a header is there.
func (l *Look) HasHeader(name string) bool {
	found, _ := l.HeaderMatches(name, "(?s:.*)")
	return found
}

// HeaderIs reports whether a header has a value.
func (l *Look) HeaderIs(name, value string) bool {
	return l.Holds(request.Test{Of: request.AspectHeader, Name: strings.ToLower(name), Value: value})
}

func fieldOf(fields []request.Field, name string, fold bool) (string, bool) {
	for _, f := range fields {
		if f.Name == name || fold && strings.EqualFold(f.Name, name) {
			return f.Value, true
		}
	}
	return "", false
}

// Lacks reports whether the request has no credential at the given places: "header NAME", "query NAME", "cookie", "cookie NAME". Without a place it
// lacks one if it has no header and no parameter at all. What stands in the "connection" is never known from a request.
func (l *Look) Lacks(places []string) bool {
	if len(places) == 0 {
		return len(l.Request.Headers) == 0 && len(l.Request.Query) == 0
	}
	return !slices.ContainsFunc(places, l.HasCredential)
}

// HasCredential reports whether the request has anything at a place where credentials are; see Lacks.
func (l *Look) HasCredential(place string) bool {
	where, name, _ := strings.Cut(place, " ")
	switch where {
	case "header":
		_, found := fieldOf(l.Request.Headers, name, true)
		return found
	case "query":
		_, found := fieldOf(l.Request.Query, name, false)
		return found
	case "cookie":
		cookies, found := fieldOf(l.Request.Headers, "cookie", true)
		return found && (name == "" || strings.Contains(cookies, name+"="))
	}
	return true
}
