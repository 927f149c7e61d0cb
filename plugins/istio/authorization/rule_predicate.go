package authorization

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
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

// literal is one condition of a rule: what classes of requests tell is known, all else is facts,
// all of which have to be true.
type literal struct {
	known   selector.Truth // Maybe: facts decide
	facts   []factName
	negated bool
}

func knownLiteral(b bool) literal { return literal{known: truthOf(b)} }

func unknownLiteral(of ...factName) literal { return literal{known: selector.Maybe, facts: of} }

func (l literal) negate() literal {
	if l.known != selector.Maybe {
		l.known = negateTruth(l.known)
		return l
	}
	l.negated = !l.negated
	return l
}

// facts are the values of the facts that are known.
type facts map[factName]bool

// evaluate returns the value of a literal, as far as facts tell.
func (l literal) evaluate(f facts) selector.Truth {
	if l.known != selector.Maybe {
		return l.known
	}
	out := selector.Yes
	for _, name := range l.facts {
		switch is, known := f[name]; {
		case known && !is:
			out = selector.No
		case !known && out == selector.Yes:
			out = selector.Maybe
		}
	}
	if l.negated {
		return negateTruth(out)
	}
	return out
}

// term is literals that all have to hold; clause is terms of which one has to.
type (
	term   []literal
	clause []term
)

func (t term) evaluate(f facts) selector.Truth {
	out := selector.Yes
	for _, l := range t {
		out = min(out, l.evaluate(f))
	}
	return out
}

func (c clause) evaluate(f facts) selector.Truth {
	out := selector.No
	for _, t := range c {
		out = max(out, t.evaluate(f))
	}
	return out
}

// predicate is clauses that all have to hold: when a rule matches.
type predicate []clause

func (p predicate) evaluate(f facts) selector.Truth {
	out := selector.Yes
	for _, c := range p {
		out = min(out, c.evaluate(f))
	}
	return out
}

// addOpenFacts adds the facts by which it is decided whether a rule matches, beside those that are
// known.
func (p predicate) addOpenFacts(f facts, into *[]factName) {
	if p.evaluate(f) != selector.Maybe {
		return
	}
	for _, c := range p {
		if c.evaluate(f) != selector.Maybe {
			continue
		}
		for _, t := range c {
			if t.evaluate(f) != selector.Maybe {
				continue
			}
			for _, l := range t {
				if l.evaluate(f) != selector.Maybe {
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

// usesFact reports whether a rule looks at a fact that fits, whatever the class.
func (p predicate) usesFact(fits func(factName) bool) bool {
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

// requestView is what rules see of the requests of one class. Where a class has several hosts or
// ports, it has one of them.
type requestView struct {
	requests          *protect.RequestReader
	host              string // "": not known
	port              int32  // 0: not known
	operationsUnknown bool   // operations are facts as well, as for all requests of the place together
}

// readPredicate reads when a rule matches: of from and to one entry each, of when all.
func (s requestView) readPredicate(rule any) predicate {
	fields, ok := rule.(map[string]any)
	if !ok { // the rule of a policy without rules
		return predicate{{}}
	}
	var out predicate
	for _, part := range []struct {
		key, inner string
		read       func(map[string]any) term
	}{{"from", "source", s.readSource}, {"to", "operation", s.readOperation}} {
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
		out = append(out, clause{s.readCondition(c)})
	}
	return out
}

// readSource reads who has to ask. Namespaces and ServiceAccounts are parts of the peer's identity.
func (s requestView) readSource(fields map[string]any) term {
	var out term
	for _, name := range sortNames(fields) {
		values := model.Texts(fields, name)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		l := s.readAttribute("source."+strings.ToLower(plain), values)
		if negative {
			l = l.negate()
		}
		out = append(out, l)
	}
	return out
}

// readAttribute is one attribute that has to have one of some values.
func (s requestView) readAttribute(name string, values []string) literal {
	key := name + " " + strings.Join(values, " ")
	switch name {
	case "source.requestprincipals", "request.auth.principal":
		return identityLiteral(tokenFact, key, values)
	case "source.principals", "source.principal":
		return identityLiteral(peerFact, key, values)
	case "source.namespaces", "source.serviceaccounts", "source.namespace", "source.serviceaccount":
		return identityLiteral(peerFact, key, values)
	case "source.ipblocks", "source.remoteipblocks", "source.ip", "remote.ip":
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = v
		}
		if protect.CoversAll(list) {
			return knownLiteral(true)
		}
		return unknownLiteral(factName{protect.Address, classifyAddress(name) + " " + strings.Join(values, " ")})
	case "destination.port":
		return s.matchAny(values, func(v string) literal { return s.matchPort(v) })
	}
	if strings.HasPrefix(name, "request.auth.") {
		return unknownLiteral(tokenFact, factName{protect.Unknown, key})
	}
	return unknownLiteral(factName{protect.Unknown, key})
}

// classifyAddress tells which address of a request an attribute is about: the one that the
// connection comes from, or the one of the client that headers tell.
func classifyAddress(attribute string) string {
	if attribute == "source.remoteipblocks" || attribute == "remote.ip" {
		return "client"
	}
	return "connection"
}

// identityLiteral is an identity that has to be there and, unless any will do, to be one of some.
func identityLiteral(of factName, key string, values []string) literal {
	if slices.Contains(values, "*") {
		return unknownLiteral(of)
	}
	return unknownLiteral(of, factName{protect.Unknown, key})
}

// readOperation reads what has to be asked: all fields have to fit, and none of those that begin
// with not.
func (s requestView) readOperation(fields map[string]any) term {
	var out term
	for _, name := range sortNames(fields) {
		values := model.Texts(fields, name)
		if len(values) == 0 {
			continue
		}
		plain, negative := strings.CutPrefix(name, "not")
		l := s.readOperand(strings.ToLower(plain), values)
		if s.operationsUnknown {
			l = unknownLiteral(factName{protect.Unknown, strings.ToLower(plain) + " " + strings.Join(values, " ")})
		}
		if negative {
			l = l.negate()
		}
		out = append(out, l)
	}
	return out
}

// readOperand is one field of an operation.
func (s requestView) readOperand(name string, values []string) literal {
	grpc := s.requests.Request.Protocol == request.GRPC
	switch name {
	case "hosts":
		return s.matchAny(values, func(v string) literal { return s.matchHost(strings.ToLower(v)) })
	case "ports":
		return s.matchAny(values, s.matchPort)
	case "methods":
		return s.matchAny(values, func(v string) literal {
			switch {
			case grpc:
				return knownLiteral(matchesValue(v, "POST"))
			case v == "*":
				return knownLiteral(true)
			case strings.Contains(v, "*"):
				return knownLiteral(false) // no test tells methods by a part
			}
			return knownLiteral(s.requests.IsMethod(v))
		})
	case "paths":
		return s.matchAny(values, func(v string) literal {
			if grpc {
				return unknownLiteral(factName{protect.Unknown, "path " + v})
			}
			return s.matchPath(v)
		})
	}
	return unknownLiteral(factName{protect.Unknown, name + " " + strings.Join(values, " ")})
}

// matchAny is a value that has to fit; every one is tested. What is not known of several is one
// fact.
func (s requestView) matchAny(values []string, one func(string) literal) literal {
	out := knownLiteral(false)
	for _, v := range values {
		switch l := one(v); {
		case l.known == selector.Yes:
			out = l
		case l.known == selector.Maybe && out.known == selector.No:
			out = unknownLiteral(factName{protect.Unknown, strings.Join(values, " ")})
		}
	}
	return out
}

// matchPath matches a path: exactly, by a prefix, by a suffix, or by a template.
func (s requestView) matchPath(v string) literal {
	switch expr, plain := pathExpression(v); {
	case v == "*":
		return knownLiteral(true)
	case strings.HasSuffix(v, "/*") && len(v) > 2 && !strings.ContainsAny(v[:len(v)-1], "*{"):
		base := strings.TrimSuffix(v, "/*")
		itself := s.requests.IsPath(base)
		return knownLiteral(s.requests.IsUnderPath(base) && !itself)
	case plain:
		return knownLiteral(s.requests.IsPath(v))
	default:
		matches, known := s.requests.PathMatches(expr)
		if !known {
			return unknownLiteral(factName{protect.Unknown, "path " + v})
		}
		return knownLiteral(matches)
	}
}

func (s requestView) matchHost(v string) literal {
	if s.host == "" && v != "*" {
		return unknownLiteral(factName{protect.Unknown, "host " + v})
	}
	return knownLiteral(v == "*" || matchesValue(v, s.host))
}

func (s requestView) matchPort(v string) literal {
	if s.port == 0 {
		return unknownLiteral(factName{protect.Unknown, "port " + v})
	}
	return knownLiteral(v == strconv.Itoa(int(s.port)))
}

// readCondition reads an entry of when. Headers are told by requests.
func (s requestView) readCondition(c any) term {
	key := model.Text(c, "key")
	values, others := model.Texts(c, "values"), model.Texts(c, "notValues")
	read := func(list []string) literal { return s.readAttribute(strings.ToLower(key), list) }
	if name, ok := strings.CutPrefix(key, "request.headers["); ok && !s.operationsUnknown {
		read = func(list []string) literal {
			return s.matchAny(list, func(v string) literal { return s.matchHeader(strings.TrimSuffix(name, "]"), v) })
		}
	}
	var out term
	if len(values) > 0 {
		out = append(out, read(values))
	}
	if len(others) > 0 {
		out = append(out, read(others).negate())
	}
	return out
}

func (s requestView) matchHeader(name, v string) literal {
	switch expr, plain := textExpression(v); {
	case v == "*":
		return knownLiteral(s.requests.HasHeader(name))
	case plain:
		return knownLiteral(s.requests.HeaderIs(name, v))
	default:
		matches, known := s.requests.HeaderMatches(name, expr)
		if !known {
			return unknownLiteral(factName{protect.Unknown, "header " + name + " " + v})
		}
		return knownLiteral(matches)
	}
}
