package space

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Scope are the requests that are asked about. The zero value of a list is all; Where has to be
// set.
type Scope struct {
	Destination request.Destination
	Hosts       []string // names, exact ones and wildcards as *.example.com
	// exact; with /** at the end the path and all below it; a * elsewhere is an element, or a part
	// of one
	Paths   []string
	Methods []string
	Headers []Header

	// Told apart as well, though all are asked about: those of these hosts and paths from all
	// others.
	ExtraHosts, ExtraPaths []string

	// ExtraTests returns further tests by which the requests that a rule takes are told apart; nil:
	// none.
	ExtraTests func(rule topology.NodeID) []request.Test

	// ReuseClass hands on every class in the same memory: a class that is kept has to be a Copy.
	ReuseClass bool

	// Steps is how far the regular expressions of all parts may be followed together, in steps of
	// their automata; what is left after that is unknown. 0: each as far as it may be followed by
	// itself.
	Steps int
}

// Header is what the requests that are asked about have of a header.
type Header struct {
	Name, Value string
	Absent      bool
}

// AnyDestination returns the destination of all requests.
func AnyDestination() request.Destination { return request.Destination{Gateway: topology.None} }

// pathTests returns the tests that tell whether a path is asked about: one has to hold.
func (s *Scope) pathTests() []request.Test { return testsOfPaths(s.Paths) }

func testsOfPaths(paths []string) []request.Test {
	out := make([]request.Test, 0, len(paths))
	for _, p := range paths {
		base, below := strings.CutSuffix(p, "/**")
		switch {
		case !strings.Contains(base, "*") && below:
			out = append(out, request.Test{Form: request.Prefix, Value: base})
		case !strings.Contains(p, "*"):
			out = append(out, request.Test{Form: request.Exact, Value: p})
		default:
			out = append(out, request.Test{Form: request.Expression, Value: globToExpression(p)})
		}
	}
	return out
}

// globToExpression returns a pattern of paths as an expression: ** is anything, * anything within
// an element, and /** at the end may be nothing.
func globToExpression(pattern string) string {
	text, below := strings.CutSuffix(pattern, "/**")
	var b strings.Builder
	for i, part := range strings.Split(text, "**") {
		if i > 0 {
			b.WriteString(`.*`)
		}
		for j, piece := range strings.Split(part, "*") {
			if j > 0 {
				b.WriteString(`[^/]*`)
			}
			b.WriteString(regexp.QuoteMeta(piece))
		}
	}
	if below {
		b.WriteString(`(?:/.*)?`)
	}
	return `(?s)^(?:` + b.String() + `)$`
}

// callTests returns the tests of the paths for gRPC requests, whose path is /service/method: for
// each path those of the two. known is false where an expression would have to tell.
func (s *Scope) callTests() (out [][]request.Test, known bool) {
	for _, t := range s.pathTests() {
		service, call, both := strings.Cut(strings.TrimPrefix(t.Value, "/"), "/")
		switch {
		case t.Form == request.Expression:
			return nil, false
		case t.Form == request.Prefix && t.Value == "":
			return nil, true
		case t.Form == request.Exact && (!both || service == "" || call == ""), t.Form == request.Prefix && both &&
			strings.Contains(call, "/"):
			continue
		}
		tests := []request.Test{{Aspect: request.AspectService, Value: service}}
		if both {
			tests = append(tests, request.Test{Aspect: request.AspectCall, Value: call})
		}
		out = append(out, tests)
	}
	return out, true
}

func (s *Scope) isMethodAsked(p *textSet) bool {
	return len(s.Methods) == 0 || p.exact && slices.Contains(s.Methods, p.text)
}
