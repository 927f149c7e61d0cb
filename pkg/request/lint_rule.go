package request

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ruleChecker finds rules of HTTPRoutes of which a data plane makes something else than they seem to
// say, by what becomes of example requests.
type ruleChecker struct {
	matcher *Matcher
	found   map[foundRule]bool
	out     []model.Problem

	settings        *matchSettings // of the place that is looked at
	place, gateway  topology.NodeID
	route, rule     topology.NodeID
	hosts           []string // of the route at the place
	entry           Entry
	committedPlaces map[committedPath]bool
	replacing       map[topology.NodeID]bool // by route, whether rules of it redirect or rewrite
}

// foundRule is what was found of a rule at data planes of one name.
type foundRule struct {
	rule topology.NodeID
	code model.Code
	name string
}

// committedPath is a path of a route to which a data plane commits requests.
type committedPath struct {
	route topology.NodeID
	path  string
}

// findMisreadRules finds the rules whose redirects lead to the request itself, whose rewrites come
// out otherwise than the Gateway API says, and which keep requests from others without taking them.
func (m *Matcher) findMisreadRules() []model.Problem {
	c := ruleChecker{matcher: m, found: map[foundRule]bool{},
		committedPlaces: map[committedPath]bool{}, replacing: map[topology.NodeID]bool{}}
	g := m.graph
	for _, place := range g.Order(topology.All) {
		c.place, c.gateway = place, topology.None
		switch g.Node(place).Role {
		case topology.Listener:
			facts := g.Listener(place)
			if facts.Protocol != "HTTP" && facts.Protocol != "HTTPS" || !facts.Accepted {
				continue
			}
			c.gateway = m.gatewayOf(place)
			c.settings = m.settingsAt(c.gateway)
			c.entry = Entry{Gateway: c.gateway, Port: facts.Port, Secure: facts.Protocol == "HTTPS"}
		case topology.Frontend:
			c.settings = m.settingsInMesh(g.Node(place).Ref.WithoutSection())
		default:
			continue
		}
		for _, route := range g.Children(topology.All, place) {
			if c.route = route; c.settings.Commit || c.hasReplacements() {
				c.checkRoute()
			}
		}
	}
	return c.out
}

// hasReplacements reports whether a rule of the route redirects requests or rewrites them.
func (c *ruleChecker) hasReplacements() bool {
	found, asked := c.replacing[c.route]
	if asked {
		return found
	}
	for _, rule := range c.matcher.graph.Children(topology.All, c.route) {
		n := c.matcher.graph.Node(rule)
		if n.Object == nil || n.Role != topology.Rule {
			continue
		}
		for _, f := range ruleBody(n).Field("filters").Items {
			found = found || f.Text("type") == "RequestRedirect" || f.Text("type") == "URLRewrite"
		}
	}
	c.replacing[c.route] = found
	return found
}

func (c *ruleChecker) checkRoute() {
	if n := c.matcher.graph.Node(c.route); n.Role != topology.Route || n.Object == nil ||
		c.matcher.graph.RouteKind(c.route) != "HTTPRoute" {
		return
	}
	var hosts model.Set[string]
	names, open := c.matcher.hostnamesAt(c.place, c.route)
	for _, h := range names {
		hosts.Add(h.Effective)
	}
	c.hosts = hosts.List
	for _, rule := range c.matcher.graph.Children(topology.All, c.route) {
		c.rule = rule
		redirects := false
		for _, f := range ruleBody(c.matcher.graph.Node(rule)).Field("filters").Items {
			switch f.Text("type") {
			case "RequestRedirect":
				if to := f.Field("requestRedirect"); !redirects {
					redirects = true
					c.checkReplacement(to.Field("path"), c.settings.Redirect, "redirects %s to %s")
					if open == "" && c.gateway != topology.None {
						c.checkLoop(to)
					}
				}
			case "URLRewrite":
				c.checkReplacement(f.At("urlRewrite", "path"), c.settings.Rewrite, "sends %[2]s on for %[1]s")
			}
		}
		if c.settings.Commit && open == "" && c.gateway != topology.None {
			c.checkCommitment()
		}
	}
}

// addProblem notes what was found of the rule, once for the data planes of one name.
func (c *ruleChecker) addProblem(code model.Code, message, hint string) {
	if at := (foundRule{c.rule, code, c.settings.Name}); !c.found[at] {
		c.found[at] = true
		n := c.matcher.graph.Node(c.rule)
		p := model.Problem{Severity: model.Warning, Code: code, Message: message, Hint: hint}.
			At(n.Object, "spec", "rules", strconv.Itoa(n.Index))
		ref := n.Ref
		p.Ref = &ref
		c.out = append(c.out, p)
	}
}

// checkReplacement finds a prefix that the data plane replaces otherwise than the Gateway API says.
func (c *ruleChecker) checkReplacement(path model.Body, ways []routing.Replacement, does string) {
	if ways == nil || path.Text("type") != replacePrefixMatch {
		return
	}
	with := path.Text("replacePrefixMatch")
	for _, match := range c.matcher.readMatches(c.rule) {
		if match.path.form != prefix {
			continue
		}
		matched := match.path.value
		for _, example := range listPathsBelow(matched) {
			theirs, standard := replacePrefix(example, matched, with, ways), replacePrefix(example, matched, with, nil)
			if theirs == standard {
				continue
			}
			c.addProblem(model.RewriteDiffers, fmt.Sprintf(
				"%s %s, where the Gateway API says %s: it puts %s in the place of %s character by character", c.settings.Name,
				fmt.Sprintf(does, example, theirs), standard, chooseText(with == "", "nothing", with), matched),
				suggestReplacement(matched, with, ways))
			return
		}
	}
}

// listPathsBelow returns example paths for which a prefix holds.
func listPathsBelow(prefix string) []string {
	stem := trimSlash(prefix)
	return []string{stem + "/q", chooseText(stem == "", "/", stem)}
}

// suggestReplacement says what to write for a replacement that comes out otherwise than the Gateway
// API says.
func suggestReplacement(matched, with string, ways []routing.Replacement) string {
	other := trimSlash(with)
	if other == with {
		other += "/"
	}
	works := other != ""
	for _, example := range listPathsBelow(matched) {
		works = works && replacePrefix(example, matched, other, ways) == replacePrefix(example, matched, other, nil)
	}
	switch {
	case works:
		return "write replacePrefixMatch: " + other
	case trimSlash(matched) == "":
		return "give the rule a longer path prefix, such as /shop, and replace that by " + trimSlash(with) + "/shop"
	}
	return "replace the prefix by another one than " + chooseText(with == "", "nothing", with) +
		", or let the backend take the path as it is"
}

// checkLoop finds a redirect that leads to the request itself.
func (c *ruleChecker) checkLoop(to model.Body) {
	matches := c.matcher.readMatches(c.rule)
	for i := range matches {
		paths := c.listLoopPaths(to.Field("path"), &matches[i])
		for _, host := range c.listLoopHosts(to.Text("hostname")) {
			for _, path := range paths {
				r := c.buildExample(host, path, &matches[i])
				alone := trace{matcher: c.matcher, request: &r, settings: c.settings, answer: &Answer{},
					sure: []candidate{{match: &matches[i]}}}
				if !alone.buildLocation(to, &matches[i]).loops {
					continue
				}
				o, err := c.matcher.traceRequest(&r, Destination{Gateway: c.gateway}, nil)
				if err != nil || o.answer.Rule != c.rule || o.answer.Location == nil || !o.answer.Location.loops {
					continue
				}
				c.addProblem(model.RedirectLoop, r.formatText()+" is redirected to itself: clients get no other answer",
					"redirect to another scheme, host, port or path; to redirect from http to https, attach the route to the HTTP listener alone, by sectionName")
				return
			}
		}
	}
}

// listLoopHosts returns hosts for which a redirect to a hostname may lead to the request itself.
func (c *ruleChecker) listLoopHosts(to string) []string {
	var out []string
	for _, host := range c.hosts {
		switch {
		case to == "":
			out = append(out, exampleHost(host))
		case isForHost(host, to):
			out = append(out, to)
		}
	}
	return out
}

// listLoopPaths returns paths for which a match holds, and a redirect that replaces the path may lead
// to the request itself.
func (c *ruleChecker) listLoopPaths(to model.Body, m *match) []string {
	var out []string
	switch to.Text("type") {
	case replaceFullPath:
		out = []string{to.Text("replaceFullPath")}
	case replacePrefixMatch:
		with := to.Text("replacePrefixMatch")
		out = append(listPathsBelow(m.path.value), listPathsBelow(with)...)
		out = append(out, with, trimSlash(m.path.value)+"/")
	default:
		out = []string{c.examplePath(m)}
	}
	return slices.DeleteFunc(out, func(path string) bool { return c.settings.matchPath(&m.path, path) != yes })
}

// examplePath returns a path for which a match holds.
func (c *ruleChecker) examplePath(m *match) string {
	if m.path.form == expression {
		return exampleText(m.path.value)
	}
	return chooseText(m.path.value == "", "/", m.path.value)
}

// buildExample returns a request for which a match holds, if its path does.
func (c *ruleChecker) buildExample(host, path string, m *match) Request {
	r := c.entry.NewRequest(host, HTTP)
	r.Path = path
	if m.method != "" {
		r.Method = m.method
	}
	value := func(v valueMatch) string {
		if v.form == expression {
			return exampleText(v.value)
		}
		return v.value
	}
	for _, v := range m.headers {
		r.Headers = append(r.Headers, Field{v.name, value(v)})
	}
	for _, v := range m.query {
		r.Query = append(r.Query, Field{v.name, value(v)})
	}
	return r
}

// exampleHost returns a host that a hostname is for.
func exampleHost(hostname string) string {
	switch {
	case hostname == "":
		return "any.example"
	case strings.HasPrefix(hostname, "*."):
		return "any" + hostname[1:]
	}
	return hostname
}

// exampleText returns a text that a simple regular expression matches; "" if it cannot be read.
func exampleText(of string) string {
	re, err := syntax.Parse(of, syntax.Perl)
	if err != nil {
		return ""
	}
	return writeExample(re)
}

func writeExample(re *syntax.Regexp) string {
	out := ""
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		const common = "a0-/"
		for _, r := range common {
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= r && r <= re.Rune[i+1] {
					return string(r)
				}
			}
		}
		if len(re.Rune) > 0 {
			return string(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out += writeExample(sub)
		}
	case syntax.OpAlternate, syntax.OpCapture, syntax.OpPlus:
		return writeExample(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(writeExample(re.Sub[0]), re.Min)
	}
	return out
}

// checkCommitment finds a rule that asks for more than a path, where the data plane chooses the path
// first and answers 404 although a rule for a wider path is there for the request.
func (c *ruleChecker) checkCommitment() {
	matches := c.matcher.readMatches(c.rule)
	for i := range matches {
		m := &matches[i]
		if m.method == "" && len(m.headers)+len(m.query) == 0 {
			continue
		}
		paths := []string{c.examplePath(m)}
		if m.path.form == prefix {
			paths = append(paths, trimSlash(m.path.value)+"/q")
		}
		at := committedPath{c.route, m.path.formatText()}
		for _, host := range c.hosts {
			for _, path := range paths {
				if !c.committedPlaces[at] && c.checkCommittedPath(exampleHost(host), path, m) {
					c.committedPlaces[at] = true
				}
			}
		}
	}
}

// checkCommittedPath reports whether requests to a path get 404 because the data plane chose a match
// of the rule by its path alone.
func (c *ruleChecker) checkCommittedPath(host, path string, m *match) bool {
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"} {
		r := c.buildExample(host, path, &match{method: method})
		o, err := c.matcher.traceRequest(&r, Destination{Gateway: c.gateway}, nil)
		if err != nil || o.committedTo != m.path.formatText() {
			continue
		}
		elsewhere := *c.settings
		elsewhere.Commit = false
		instead, err := c.matcher.traceRequest(&r, Destination{Gateway: c.gateway}, &elsewhere)
		if err != nil || instead.answer.Rule == topology.None {
			continue
		}
		other := c.matcher.graph.Node(instead.answer.Rule).Ref
		c.addProblem(model.PathCommitted, fmt.Sprintf(
			"%s gets 404 because of it, although %s is there: %s chooses %s first, and this asks for %s as well",
			r.formatText(), other, c.settings.Name, m.path.formatText(), m.explainConditions()),
			"add a rule for "+m.path.formatText()+" without conditions, with the backends of "+other.String())
		return true
	}
	return false
}
