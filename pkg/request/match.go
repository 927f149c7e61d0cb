package request

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// match is one entry of a rule's matches, ready to be compared with requests. The zero value of a
// part asks for nothing.
type match struct {
	path    pathMatch
	method  string
	headers []valueMatch // names in lower case, each once
	query   []valueMatch // each name once
	service valueMatch   // of gRPC, without a name
	call    valueMatch
	grpc    bool

	// Of gRPC, for data planes that have HTTPRoutes and GRPCRoutes in one list:
	bare      bool                            // the rule has no matches
	anyCall   bool                            // it asks for neither a service nor a method
	compiler  *compiler                       // of what they are as a path
	callPaths map[routing.GRPCPath]*pathMatch // service and method as a path, as data planes read them
}

type pathMatch struct {
	form  form
	value string // as it is configured
	regex *pattern
	// of gRPC: the expression stands where a prefix / does, with one more header match
	asRoot bool
	glob   *pattern // of an exact value with wildcards; nil: it has none
}

type valueMatch struct {
	name, value string
	form        form
	regex       *pattern
}

// pattern is a regular expression. How much of a text it must match is up to implementations
// (gatewayapi G48).
type pattern struct {
	text     string
	evaluate bool // it can be
	tied     map[routing.Tied]*regexp.Regexp
}

// form is how a value is compared.
type form uint8

const (
	anything form = iota
	exact
	prefix
	expression // a regular expression
)

// verdict says whether something holds. maybe: an expression that cannot be evaluated decides.
type verdict uint8

const (
	no verdict = iota
	maybe
	yes
)

// trimSlash returns a path prefix without the slash at its end, which does not count (gatewayapi
// G44).
func trimSlash(value string) string { return strings.TrimSuffix(value, "/") }

func toVerdict(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// hasExpression reports whether a regular expression is part of the match.
func (m *match) hasExpression() bool {
	isRegex := func(v valueMatch) bool { return v.form == expression }
	return m.path.form == expression && !m.grpc || isRegex(m.service) || isRegex(m.call) ||
		slices.ContainsFunc(m.headers, isRegex) || slices.ContainsFunc(m.query, isRegex)
}

// hasRedactedValue reports whether a value that the match asks for is redacted.
func (m *match) hasRedactedValue() bool {
	out := func(v valueMatch) bool { return model.IsRedacted(v.value) }
	return slices.ContainsFunc(m.headers, out) || slices.ContainsFunc(m.query, out)
}

// compiler reads the matches of rules. Regular expressions are made once, however often they are
// written.
type compiler struct {
	patterns     map[string]*pattern
	instructions int  // instructions of those that were made
	textOnly     bool // expressions are not made
}

// compileRule reads the matches of a rule. A rule without any has one match: of an HTTPRoute the
// path prefix /, of a GRPCRoute everything (gatewayapi G5). A match that cannot be read takes no
// part; faults says what is wrong.
func (c *compiler) compileRule(body model.Body, grpc bool) (out []match, faults []string) {
	list := body.Field("matches")
	if list.Len() == 0 {
		return []match{{grpc: grpc, bare: true, anyCall: grpc, path: pathMatch{form: prefix, value: "/"}}}, nil
	}
	for i, v := range list.Items {
		m, err := c.compileMatch(v, grpc)
		if err != nil {
			faults = append(faults, fmt.Sprintf("matches[%d].%v", i, err))
			continue
		}
		out = append(out, m)
	}
	return out, faults
}

func (c *compiler) compileMatch(v model.Body, grpc bool) (match, error) {
	m := match{grpc: grpc, compiler: c}
	var err error
	if grpc {
		method := v.Field("method")
		if m.service, err = c.compileMethod(method, "service"); err == nil {
			m.call, err = c.compileMethod(method, "method")
		}
		m.anyCall = m.service.form == anything && m.call.form == anything
	} else {
		if m.path, err = c.compilePath(v.Field("path")); err == nil {
			m.method, err = textAt(v, "method")
		}
		if err == nil {
			m.query, err = c.compileValues(v, "queryParams", func(name string) string { return name })
		}
	}
	if err == nil {
		m.headers, err = c.compileValues(v, "headers", strings.ToLower)
	}
	return m, err
}

func (c *compiler) compilePath(v model.Body) (pathMatch, error) {
	p := pathMatch{form: prefix, value: "/"}
	if !v.Field("value").IsNull() {
		var err error
		if p.value, err = textAt(v, "value"); err != nil {
			return p, fmt.Errorf("path.%w", err)
		}
	}
	switch kind := v.Text("type"); kind {
	case "", "PathPrefix":
	case "Exact":
		p.form = exact
		if strings.ContainsAny(p.value, "*?") {
			p.glob = c.compileRegex(globToExpression(p.value))
		}
	case "RegularExpression":
		p.form, p.regex = expression, c.compileRegex(p.value)
	default:
		return p, fmt.Errorf("unknown path.type %q", kind)
	}
	return p, nil
}

// compileMethod reads the service or the method of a gRPC match.
func (c *compiler) compileMethod(method model.Body, key string) (valueMatch, error) {
	value, err := textAt(method, key)
	if err != nil || value == "" {
		return valueMatch{}, err
	}
	return c.compileValue(method.Text("type"), "method.type", valueMatch{value: value})
}

func (c *compiler) compileValues(v model.Body, key string, normal func(string) string) ([]valueMatch, error) {
	var out []valueMatch
	for i, entry := range v.Field(key).Items {
		name, err := textAt(entry, "name")
		value, errValue := textAt(entry, "value")
		if err != nil || errValue != nil || name == "" {
			return nil, fmt.Errorf("%s[%d] has no readable name and value", key, i)
		}
		one, err := c.compileValue(entry.Text("type"), fmt.Sprintf("%s[%d].type", key, i),
			valueMatch{name: normal(name), value: value})
		if err != nil {
			return nil, err
		}
		// of equal names the first counts
		if !slices.ContainsFunc(out, func(o valueMatch) bool { return o.name == one.name }) {
			out = append(out, one)
		}
	}
	return out, nil
}

func (c *compiler) compileValue(kind, where string, v valueMatch) (valueMatch, error) {
	switch {
	case model.IsRedacted(v.value) && slices.Contains([]string{"", "Exact", "RegularExpression"}, kind):
		v.form, v.regex = expression, &pattern{} // whether it holds is not known
	case kind == "", kind == "Exact":
		v.form = exact
	case kind == "RegularExpression":
		v.form, v.regex = expression, c.compileRegex(v.value)
	default:
		return v, fmt.Errorf("unknown %s %q", where, kind)
	}
	return v, nil
}

// mostInstructions is how large the expressions of all matches may be together, as programs:
// compiling them takes some seconds. Further ones cannot be evaluated.
const mostInstructions = 4_000_000

// compileRegex returns an expression as RE2.
func (c *compiler) compileRegex(text string) *pattern {
	if p, known := c.patterns[text]; known || c.textOnly {
		return p
	}
	p := &pattern{text: text, tied: map[routing.Tied]*regexp.Regexp{}}
	c.instructions += model.PatternSize(text)
	if c.instructions <= mostInstructions {
		_, err := syntax.Parse(text, syntax.Perl)
		p.evaluate = err == nil
	}
	if c.patterns == nil {
		c.patterns = map[string]*pattern{}
	}
	c.patterns[text] = p
	return p
}

// matchText says whether an expression matches a text, to whose ends it is tied or not.
func (p *pattern) matchText(text string, tied routing.Tied) verdict {
	switch {
	case p == nil || !p.evaluate:
		return maybe
	case tied == routing.TiedUnknown: // whichever ends it is tied to
		some, all := p.matchText(text, routing.TiedNowhere), p.matchText(text, routing.TiedBoth)
		if some != all {
			return maybe
		}
		return all
	}
	re := p.tied[tied]
	if re == nil {
		var err error
		if re, err = regexp.Compile(tieExpression(p.text, tied)); err != nil { // it nests too deeply
			return maybe
		}
		p.tied[tied] = re
	}
	return toVerdict(re.MatchString(text))
}

// tieExpression ties an expression to the ends of a text.
func tieExpression(text string, tied routing.Tied) string {
	switch tied {
	case routing.TiedStart:
		return `\A(?:` + text + `)`
	case routing.TiedNowhere:
		return text
	}
	return `\A(?:` + text + `)\z`
}

// globToExpression returns a pattern in which * is any text and ? any character as an expression.
func globToExpression(glob string) string {
	return strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(glob))
}

// textAt is the text at a key, "" where there is none.
func textAt(v model.Body, key string) (string, error) {
	f := v.Field(key)
	if !f.IsNull() && !f.IsText() {
		return "", fmt.Errorf("%s is not a text", key)
	}
	return f.Text(), nil
}

// formatText describes the match in a few words.
func (m *match) formatText() string {
	var parts []string
	if m.grpc {
		switch {
		case m.service.form == anything && m.call.form == anything:
			if len(m.headers) == 0 {
				return "every gRPC request"
			}
		case m.call.form == anything:
			parts = append(parts, "service "+m.service.value)
		case m.service.form == anything:
			parts = append(parts, "method "+m.call.value)
		default:
			parts = append(parts, "method "+m.service.value+"/"+m.call.value)
		}
	} else {
		parts = append(parts, m.path.formatText())
		if m.method != "" {
			parts = append(parts, "method "+m.method)
		}
	}
	for _, h := range m.headers {
		parts = append(parts, "header "+h.formatText())
	}
	for _, q := range m.query {
		parts = append(parts, "query "+q.formatText())
	}
	return strings.Join(parts, ", ")
}

func (p pathMatch) formatText() string {
	return map[form]string{exact: "exact path ", prefix: "path prefix ", expression: "path expression "}[p.form] +
		p.value
}

func (v valueMatch) formatText() string {
	if v.form == expression {
		return v.name + "~" + v.value
	}
	return v.name + "=" + v.value
}
