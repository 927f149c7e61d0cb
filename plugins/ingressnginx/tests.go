package ingressnginx

import (
	"net/netip"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

func (b *testBuilder) addField(t request.Test) {
	if b.isNew(t) {
		b.tests.Fields = append(b.tests.Fields, t)
	}
}

// addHeader adds a test of the value of a header.
func (b *testBuilder) addHeader(name string, form request.Form, value string) {
	t := request.Test{Aspect: request.AspectHeader, Name: strings.ToLower(name), Form: form, Value: value}
	if form == request.Expression {
		t.Text = value
	}
	b.addField(t)
}

func (b *testBuilder) addRanges(ranges []netip.Prefix) {
	for _, r := range ranges {
		if !slices.Contains(b.tests.Addresses, r) {
			b.tests.Addresses = append(b.tests.Addresses, r)
		}
	}
}

// addServer adds what holds for all paths of the host.
func (b *testBuilder) addServer() {
	c, s := b.control.config, b.server
	b.tests.Certificates = s.clientAuth.isAsked() || s.clientAuth.matchCN != ""
	if c.readBoolean("use-forwarded-headers", false) {
		b.addHeader("X-Forwarded-Proto", request.Exact, "https")
	}
	for _, l := range []struct{ key, header string }{{"block-user-agents", "user-agent"}, {"block-referers", "referer"}} {
		for _, text := range c.readList(l.key) {
			b.addHeader(l.header, request.Expression, wholeExpression(blockedExpression(text)))
		}
	}
	b.addRanges(c.readRanges("block-cidrs"))
	if slices.ContainsFunc(s.locations, func(l *location) bool { return l.settings.rewrite.appRoot != "" }) {
		b.addPathTest(request.Exact, "/", "")
	}
}

// blockedExpression is the expression of an entry of a list of blocked headers.
func blockedExpression(text string) string {
	if rest, noCase := strings.CutPrefix(text, "~*"); noCase {
		return "(?i)" + rest
	}
	if rest, isRegex := strings.CutPrefix(text, "~"); isRegex {
		return rest
	}
	return "(?i)^" + regexp.QuoteMeta(text) + "$"
}

func (b *testBuilder) addPathTest(form request.Form, value, text string) {
	t := request.Test{Aspect: request.AspectPath, Form: form, Value: value, Text: text}
	if b.isNew(t) {
		b.tests.Paths = append(b.tests.Paths, t)
	}
}

// addPath adds the path of a location.
func (b *testBuilder) addPath(l *location) {
	switch {
	case b.server.regex:
		if l.expression.regex != nil {
			b.addPathTest(request.Expression, wholeExpression(l.expression.text), l.path)
		} else {
			b.addPathTest(request.Expression, "(?i)"+regexp.QuoteMeta(l.expression.prefix)+"(?s:.*)", l.path)
		}
	case l.exact:
		b.addPathTest(request.Exact, l.path, "")
		if rest := strings.TrimSuffix(l.path, "/"); rest != l.path && rest != "" {
			b.addPathTest(request.Exact, rest, "")
		}
	default:
		plain := strings.TrimSuffix(l.path, "/")
		b.addPathTest(request.Prefix, plain, "")
		if l.path != "/" && strings.HasSuffix(l.ingressPath(), "/") {
			b.addPathTest(request.Exact, plain, "")
		}
	}
}

// wholeExpression is an expression that takes a whole text where the given one takes a part of it.
func wholeExpression(text string) string {
	if re, err := syntax.Parse(text, syntax.Perl); err == nil {
		re = re.Simplify()
		if re.Op == syntax.OpConcat && len(re.Sub) > 0 && re.Sub[0].Op == syntax.OpBeginText {
			return "(?:" + text + ")(?s:.*)"
		}
	}
	return "(?s:.*?)(?:" + text + ")(?s:.*)"
}

// addLocation adds what a location asks about besides the path.
func (b *testBuilder) addLocation(l *location) {
	s := l.settings
	b.addRanges(s.deny)
	b.addRanges(s.allow)
	b.addRanges(s.limits.free)
	if limit := l.bodyLimit(); limit > 0 && !slices.Contains(b.tests.Bodies, limit) {
		b.tests.Bodies = append(b.tests.Bodies, limit)
	}
	if s.cors.enabled {
		if !slices.Contains(b.tests.Methods, "OPTIONS") {
			b.tests.Methods = append(b.tests.Methods, "OPTIONS")
		}
		if s.cors.origins != nil && !s.cors.all {
			b.addHeader("origin", request.Expression, wholeExpression(s.cors.origins.String()))
		}
	}
	if others := l.backend().alternatives; len(others) > 0 {
		b.addCanary(&others[0].canary)
	}
}

// addCanary adds what a canary asks about.
func (b *testBuilder) addCanary(c *canary) {
	switch {
	case c.header == "":
	case c.value != "":
		b.addHeader(c.header, request.Exact, c.value)
	case c.pattern != "":
		if compileExpression(c.pattern).regex != nil {
			b.addHeader(c.header, request.Expression, wholeExpression(c.pattern))
		}
	default:
		b.addHeader(c.header, request.Exact, "always")
		b.addHeader(c.header, request.Exact, "never")
	}
	if c.cookie != "" {
		for _, value := range []string{"always", "never"} {
			b.addHeader("cookie", request.Expression,
				`(?s:.*;)?\s*(?i:`+regexp.QuoteMeta(c.cookie)+`)=`+value+`\s*(?s:;.*)?`)
		}
	}
}
