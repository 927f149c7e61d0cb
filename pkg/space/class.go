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

	// Possible is what may become of a request of the class where that is not known, and others than these may not take it: by each rule that may, and
	// without a rule where it may be none. nil: it is known, or not even that is.
	Possible []*request.Answer

	protocol request.Protocol
	hosts    hosts
	host     string
	parts    []part
	rivals   []topology.NodeID
}

// part is what is asked of one part of the requests of a class.
type part struct {
	key
	texts  *texts
	piece  piece
	absent bool
	whole  bool // anything will do
}

// key is a part of a request.
type key struct {
	of   request.Aspect
	name string
}

// Contains reports whether a request is one of the class: one that comes to its entry, whose server name is its host.
func (c *Class) Contains(r *request.Request) bool {
	return c.hosts.of(r.Host) == c.host && c.ContainsAnyHost(r)
}

// ContainsAnyHost is Contains for a request of which the host is not known.
func (c *Class) ContainsAnyHost(r *request.Request) bool {
	return r.Protocol == c.protocol && !slices.ContainsFunc(c.parts, func(p part) bool {
		value, present := p.in(r)
		switch {
		case p.whole:
			return false
		case p.absent || !present:
			return p.absent == present
		}
		return p.texts.at(value) != p.piece.place
	})
}

// in is the value of the part in a request.
func (k key) in(r *request.Request) (string, bool) {
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

// put gives a request the part.
func (p *part) put(r *request.Request) {
	value := p.piece.text
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

// Looks reports whether more than host, path and method decide which requests the class has.
func (c *Class) Looks() bool {
	return slices.ContainsFunc(c.parts, func(p part) bool { return p.of == request.AspectHeader || p.of == request.AspectQuery })
}

// Text says in words which requests the class has.
func (c *Class) Text() string {
	out := []string{hostText(c.host, c.hosts)}
	if c.protocol == request.GRPC {
		out = append(out, "gRPC")
	}
	for i := range c.parts {
		if p := &c.parts[i]; !p.whole {
			out = append(out, p.said())
		}
	}
	return strings.Join(out, ", ")
}

// anyValue stands for an expression that cannot be read: it may hold for every value.
const anyValue = `(?s).*`

var aspects = map[request.Aspect]string{request.AspectPath: "path", request.AspectMethod: "method", request.AspectHeader: "header",
	request.AspectQuery: "query", request.AspectService: "service", request.AspectCall: "method"}

func (p *part) said() string {
	what := aspects[p.of]
	if p.name != "" {
		what += " " + p.name
	}
	holds, exprs := "", 0
	for i, expr := range p.texts.exprs {
		if expr == anyValue {
			continue
		}
		exprs++
		if p.piece.holds != "" && p.piece.holds[i] == 1 {
			holds += " matching " + expr
		}
	}
	switch {
	case p.absent:
		return "no " + what
	case p.piece.exact && p.name != "":
		return what + "=" + p.piece.text
	case p.piece.exact:
		return what + " " + p.piece.text
	case p.of == request.AspectPath && p.piece.stem != "":
		return "paths below " + p.piece.stem + holds
	case p.of == request.AspectPath && len(p.texts.stems) == 1 && len(p.texts.exact)+len(p.texts.exprs) == 0:
		return "every path"
	case p.of == request.AspectPath:
		return "other paths" + holds
	case len(p.texts.exact)+exprs == 0:
		return "any " + what
	}
	return "another " + what + holds
}
