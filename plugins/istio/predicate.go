package istio

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// factName names a thing that rules look at and that no class of requests tells.
type factName struct {
	kind protect.FactKind
	text string
}

// The identities: a verified token, and a verified certificate of the mesh.
var (
	tokenFact = factName{protect.Identity, "jwt"}
	peerFact  = factName{protect.Identity, "mtls"}
)

// literal is one question of a rule: what classes of requests tell is known, all else is facts,
// all of which have to be true.
type literal struct {
	known topology.Truth // Maybe: facts decide
	facts []factName
	not   bool
}

func told(b bool) literal { return literal{known: truth(b)} }

func unsettled(of ...factName) literal { return literal{known: topology.Maybe, facts: of} }

func (l literal) negated() literal {
	if l.known != topology.Maybe {
		l.known = not(l.known)
		return l
	}
	l.not = !l.not
	return l
}

// facts are what is known of facts.
type facts map[factName]bool

// value is what a literal is, as far as facts tell.
func (l literal) value(f facts) topology.Truth {
	if l.known != topology.Maybe {
		return l.known
	}
	out := topology.Yes
	for _, name := range l.facts {
		switch is, known := f[name]; {
		case known && !is:
			out = topology.No
		case !known && out == topology.Yes:
			out = topology.Maybe
		}
	}
	if l.not {
		return not(out)
	}
	return out
}

// term is literals that all have to hold; clause is terms of which one has to.
type (
	term   []literal
	clause []term
)

func (t term) value(f facts) topology.Truth {
	out := topology.Yes
	for _, l := range t {
		out = min(out, l.value(f))
	}
	return out
}

func (c clause) value(f facts) topology.Truth {
	out := topology.No
	for _, t := range c {
		out = max(out, t.value(f))
	}
	return out
}

// predicate is clauses that all have to hold: when a rule matches.
type predicate []clause

func (p predicate) value(f facts) topology.Truth {
	out := topology.Yes
	for _, c := range p {
		out = min(out, c.value(f))
	}
	return out
}

// open adds the facts by which it is decided whether a rule matches, beside those that are known.
func (p predicate) open(f facts, into *[]factName) {
	if p.value(f) != topology.Maybe {
		return
	}
	for _, c := range p {
		if c.value(f) != topology.Maybe {
			continue
		}
		for _, t := range c {
			if t.value(f) != topology.Maybe {
				continue
			}
			for _, l := range t {
				if l.value(f) != topology.Maybe {
					continue
				}
				for _, name := range l.facts {
					if _, known := f[name]; !known && !slices.Contains(*into, name) {
						*into = append(*into, name)
					}
				}
			}
		}
	}
}

// asks reports whether a rule looks at a fact that fits, whatever the class.
func (p predicate) asks(fits func(factName) bool) bool {
	for _, c := range p {
		for _, t := range c {
			for _, l := range t {
				if slices.ContainsFunc(l.facts, fits) {
					return true
				}
			}
		}
	}
	return false
}

func isIdentity(f factName) bool { return f.kind == protect.Identity }

func isAddress(f factName) bool { return f.kind == protect.Address }

// sight is what rules see of the requests of one class. Where a class has several hosts or ports,
// one of them is looked at.
type sight struct {
	look *protect.Look
	host string // "": not known
	port int32  // 0: not known
	open bool   // operations are facts as well, as for all requests of the place together
}

// predicateOf reads when a rule matches: of from and to one entry each, of when all (spec §5).
func (s sight) predicateOf(rule any) predicate {
	fields, ok := rule.(map[string]any)
	if !ok { // the rule of a policy without rules
		return predicate{{}}
	}
	var out predicate
	for _, part := range []struct {
		key, inner string
		read       func(map[string]any) term
	}{{"from", "source", s.source}, {"to", "operation", s.operation}} {
		entries, _ := fields[part.key].([]any)
		if len(entries) == 0 {
			continue
		}
		var c clause
		for _, e := range entries {
			entry, _ := model.Get(e, part.inner).(map[string]any)
			c = append(c, part.read(entry))
		}
		out = append(out, c)
	}
	conditions, _ := fields["when"].([]any)
	for _, c := range conditions {
		out = append(out, clause{s.condition(c)})
	}
	return out
}

// source reads who has to ask. Namespaces and ServiceAccounts are parts of the peer's identity.
func (s sight) source(fields map[string]any) term {
	var out term
	for _, name := range sortedNames(fields) {
		values := model.Texts(fields, name)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		l := s.attribute("source."+strings.ToLower(plain), values)
		if negative {
			l = l.negated()
		}
		out = append(out, l)
	}
	return out
}

// attribute is one attribute that has to have one of some values.
func (s sight) attribute(name string, values []string) literal {
	key := name + " " + strings.Join(values, " ")
	switch name {
	case "source.requestprincipals", "request.auth.principal":
		return identified(tokenFact, key, values)
	case "source.principals", "source.principal":
		return identified(peerFact, key, values)
	case "source.namespaces", "source.serviceaccounts", "source.namespace", "source.serviceaccount":
		return identified(peerFact, key, values)
	case "source.ipblocks", "source.remoteipblocks", "source.ip", "remote.ip":
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		if protect.CoversAll(list) {
			return told(true)
		}
		return unsettled(factName{protect.Address, addressOf(name) + " " + strings.Join(values, " ")})
	case "destination.port":
		return s.oneOf(values, func(v string) literal { return s.isPort(v) })
	}
	if strings.HasPrefix(name, "request.auth.") {
		return unsettled(tokenFact, factName{protect.Unknown, key})
	}
	return unsettled(factName{protect.Unknown, key})
}

// addressOf tells which address of a request an attribute is about: the one that the connection comes
// from, or the one of the client that headers tell.
func addressOf(attribute string) string {
	if attribute == "source.remoteipblocks" || attribute == "remote.ip" {
		return "client"
	}
	return "connection"
}

// identified is an identity that has to be there and, unless any will do, to be one of some.
func identified(of factName, key string, values []string) literal {
	if slices.Contains(values, "*") {
		return unsettled(of)
	}
	return unsettled(of, factName{protect.Unknown, key})
}

// operation reads what has to be asked: all fields have to fit, and none of those that begin with not.
func (s sight) operation(fields map[string]any) term {
	var out term
	for _, name := range sortedNames(fields) {
		values := model.Texts(fields, name)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		l := s.operand(strings.ToLower(plain), values)
		if s.open {
			l = unsettled(factName{protect.Unknown, strings.ToLower(plain) + " " + strings.Join(values, " ")})
		}
		if negative {
			l = l.negated()
		}
		out = append(out, l)
	}
	return out
}

// operand is one field of an operation.
func (s sight) operand(name string, values []string) literal {
	grpc := s.look.Request.Protocol == request.GRPC
	switch name {
	case "hosts":
		return s.oneOf(values, func(v string) literal { return s.isHost(strings.ToLower(v)) })
	case "ports":
		return s.oneOf(values, s.isPort)
	case "methods":
		return s.oneOf(values, func(v string) literal {
			switch {
			case grpc:
				return told(fits(v, "POST"))
			case v == "*":
				return told(true)
			case strings.Contains(v, "*"):
				return told(false) // no test tells methods by a part
			}
			return told(s.look.IsMethod(v))
		})
	case "paths":
		return s.oneOf(values, func(v string) literal {
			if grpc {
				return unsettled(factName{protect.Unknown, "path " + v})
			}
			return s.isPath(v)
		})
	}
	return unsettled(factName{protect.Unknown, name + " " + strings.Join(values, " ")})
}

// oneOf is a value that has to fit; every one is tested. What is not known of several is one fact.
func (s sight) oneOf(values []string, one func(string) literal) literal {
	out := told(false)
	for _, v := range values {
		switch l := one(v); {
		case l.known == topology.Yes:
			out = l
		case l.known == topology.Maybe && out.known == topology.No:
			out = unsettled(factName{protect.Unknown, strings.Join(values, " ")})
		}
	}
	return out
}

// isPath matches a path: exactly, by a prefix, by a suffix, or by a template.
func (s sight) isPath(v string) literal {
	switch expr, plain := pathExpression(v); {
	case v == "*":
		return told(true)
	case strings.HasSuffix(v, "/*") && len(v) > 2 && !strings.ContainsAny(v[:len(v)-1], "*{"):
		base := strings.TrimSuffix(v, "/*")
		itself := s.look.IsPath(base)
		return told(s.look.IsUnderPath(base) && !itself)
	case plain:
		return told(s.look.IsPath(v))
	default:
		matches, known := s.look.PathMatches(expr)
		if !known {
			return unsettled(factName{protect.Unknown, "path " + v})
		}
		return told(matches)
	}
}

func (s sight) isHost(v string) literal {
	if s.host == "" && v != "*" {
		return unsettled(factName{protect.Unknown, "host " + v})
	}
	return told(v == "*" || fits(v, s.host))
}

func (s sight) isPort(v string) literal {
	if s.port == 0 {
		return unsettled(factName{protect.Unknown, "port " + v})
	}
	return told(v == strconv.Itoa(int(s.port)))
}

// condition reads an entry of when. Headers are told by requests.
func (s sight) condition(c any) term {
	key := model.Text(c, "key")
	values, others := model.Texts(c, "values"), model.Texts(c, "notValues")
	read := func(list []string) literal { return s.attribute(strings.ToLower(key), list) }
	if name, ok := strings.CutPrefix(key, "request.headers["); ok && !s.open {
		read = func(list []string) literal {
			return s.oneOf(list, func(v string) literal { return s.hasHeader(strings.TrimSuffix(name, "]"), v) })
		}
	}
	var out term
	if len(values) > 0 {
		out = append(out, read(values))
	}
	if len(others) > 0 {
		out = append(out, read(others).negated())
	}
	return out
}

func (s sight) hasHeader(name, v string) literal {
	switch expr, plain := textExpression(v); {
	case v == "*":
		return told(s.look.HasHeader(name))
	case plain:
		return told(s.look.HeaderIs(name, v))
	default:
		matches, known := s.look.HeaderMatches(name, expr)
		if !known {
			return unsettled(factName{protect.Unknown, "header " + name + " " + v})
		}
		return told(matches)
	}
}
