package space

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Class is a set of requests that no rule tells apart.
type Class struct {
	Entry   request.Entry
	Request request.Request // one of the class, a shortest
	Answer  *request.Answer // what becomes of it, and with it of all of the class
	Unknown string          // why the class may not be told apart further; "" if it is

	// Possible is what may become of a request of the class where that is not known, and others
	// than these may not take it: by each rule that may, and without a rule where it may be none.
	// nil: it is known, or not even that is.
	Possible []*request.Answer

	protocol  request.Protocol
	hostNames hostNames
	hostName  string
	parts     []part
	rules     []topology.NodeID
}

// part is what is asked of one part of the requests of a class.
type part struct {
	partKey
	splitter   *textSplitter
	set        textSet
	absent     bool
	matchesAll bool // anything will do
}

// partKey names a part of a request.
type partKey struct {
	of   request.Aspect
	name string
}

// Contains reports whether a request is one of the class: one that comes to its entry, whose server
// name is its host.
func (c *Class) Contains(r *request.Request) bool {
	return c.hostNames.nameOf(r.Host) == c.hostName && c.ContainsAnyHost(r)
}

// ContainsAnyHost is Contains for a request of which the host is not known.
func (c *Class) ContainsAnyHost(r *request.Request) bool {
	return r.Protocol == c.protocol && !slices.ContainsFunc(c.parts, func(p part) bool {
		value, present := p.valueIn(r)
		switch {
		case p.matchesAll:
			return false
		case p.absent || !present:
			return p.absent == present
		}
		return p.splitter.keyOf(value) != p.set.textKey
	})
}

// valueIn returns the value of the part in a request.
func (k partKey) valueIn(r *request.Request) (string, bool) {
	switch k.of {
	case request.AspectPath:
		return r.Path, true
	case request.AspectMethod:
		return r.Method, true
	case request.AspectService:
		return r.Service, true
	case request.AspectCall:
		return r.Call, true
	}
	fields := r.Headers
	if k.of == request.AspectQuery {
		fields = r.Query
	}
	for _, f := range fields {
		if f.Name == k.name || k.of == request.AspectHeader && strings.EqualFold(f.Name, k.name) {
			return f.Value, true
		}
	}
	return "", false
}

// applyTo sets the part in a request.
func (p *part) applyTo(r *request.Request) {
	value := p.set.text
	switch p.of {
	case request.AspectPath:
		r.Path = value
	case request.AspectMethod:
		r.Method = value
	case request.AspectService:
		r.Service = value
	case request.AspectCall:
		r.Call = value
	case request.AspectHeader:
		if !p.absent {
			r.Headers = append(r.Headers, request.Field{Name: p.name, Value: value})
		}
	case request.AspectQuery:
		if !p.absent {
			r.Query = append(r.Query, request.Field{Name: p.name, Value: value})
		}
	}
}

// HasFieldTests reports whether headers or query parameters decide which requests the class has.
func (c *Class) HasFieldTests() bool {
	return slices.ContainsFunc(c.parts, func(p part) bool {
		return p.of == request.AspectHeader ||
			p.of == request.AspectQuery
	})
}

// Text says in words which requests the class has.
func (c *Class) Text() string {
	out := []string{hostText(c.hostName, c.hostNames)}
	if c.protocol == request.GRPC {
		out = append(out, "gRPC")
	}
	for i := range c.parts {
		if p := &c.parts[i]; !p.matchesAll {
			out = append(out, p.formatText())
		}
	}
	return strings.Join(out, ", ")
}

// anyValue stands for an expression that cannot be read: it may hold for every value.
const anyValue = `(?s).*`

var aspectNames = map[request.Aspect]string{request.AspectPath: "path", request.AspectMethod: "method",
	request.AspectHeader: "header",
	request.AspectQuery:  "query", request.AspectService: "service", request.AspectCall: "method"}

func (p *part) formatText() string {
	what := aspectNames[p.of]
	if p.name != "" {
		what += " " + p.name
	}
	holds, exprs := "", 0
	for i, expr := range p.splitter.expressions {
		if expr == anyValue {
			continue
		}
		exprs++
		if p.set.holds != "" && p.set.holds[i] == 1 {
			holds += " matching " + p.splitter.texts[expr]
		}
	}
	switch {
	case p.absent:
		return "no " + what
	case p.set.exact && p.name != "":
		return what + "=" + p.set.text
	case p.set.exact:
		return what + " " + p.set.text
	case p.of == request.AspectPath && p.set.prefix != "":
		return "paths below " + p.set.prefix + holds
	case p.of == request.AspectPath && len(p.splitter.prefixes) == 1 &&
		len(p.splitter.exact)+len(p.splitter.expressions) == 0:
		return "every path"
	case p.of == request.AspectPath:
		return "other paths" + holds
	case len(p.splitter.exact)+exprs == 0:
		return "any " + what
	}
	return "another " + what + holds
}
