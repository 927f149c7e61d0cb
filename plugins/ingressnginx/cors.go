package ingressnginx

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
)

// cors is which pages of other origins may make requests (N35, N36).
type cors struct {
	enabled bool
	all     bool           // origins
	origins *regexp.Regexp // nil: none
	texts   []string       // of the origins
	headers []ingress.Header
}

var originPattern = regexp.MustCompile(`^([a-z]+://(\*\.)?[A-Za-z0-9\-.]*(:\d+)?|\*|null)?$`)

// readCORS reads the annotations on CORS.
func (v *annotationReader) readCORS() cors {
	c := cors{enabled: v.booleanOr("enable-cors", false)}
	if !c.enabled {
		return c
	}
	text, state := v.readText("cors-allow-origin")
	if state != present {
		text = "*"
	}
	for origin := range strings.SplitSeq(text, ",") {
		switch origin = strings.TrimSpace(origin); {
		case origin == "":
		case origin == "*":
			c.all, c.texts = true, nil
		case !c.all && originPattern.MatchString(origin):
			c.texts = append(c.texts, origin)
		}
	}
	if len(c.texts) > 0 {
		c.origins = regexp.MustCompile(originExpression(c.texts))
	}
	if v.booleanOr("cors-allow-credentials", true) {
		c.set("Access-Control-Allow-Credentials", "true")
	}
	c.set("Access-Control-Allow-Methods", v.textMatching("cors-allow-methods", corsMethodsPattern,
		"GET, PUT, POST, DELETE, PATCH, OPTIONS"))
	c.set("Access-Control-Allow-Headers", v.textMatching("cors-allow-headers", headerListPattern,
		"DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization"))
	if expose := v.textMatching("cors-expose-headers", corsExposePattern, ""); expose != "" {
		c.set("Access-Control-Expose-Headers", expose)
	}
	c.set("Access-Control-Max-Age", strconv.Itoa(v.integerOr("cors-max-age", 1728000)))
	return c
}

func (c *cors) set(name, value string) {
	c.headers = append(c.headers, ingress.Header{Name: name, Values: []string{value}})
}

// textMatching is text, or a default for a value that is not of a pattern.
func (v *annotationReader) textMatching(name string, p *regexp.Regexp, otherwise string) string {
	if text, state := v.readText(name); state == present && p.MatchString(text) {
		return text
	}
	return otherwise
}

// originExpression is the expression by which origins are compared: only their end counts, and no case.
func originExpression(origins []string) string {
	parts := make([]string, len(origins))
	for i, o := range origins {
		parts[i] = "(" + strings.Replace(regexp.QuoteMeta(o), `\*`, `[A-Za-z0-9\-]+`, 1) + ")"
	}
	return "(?i)(" + strings.Join(parts, "|") + ")$"
}

// allowOrigin reports whether a request with an Origin gets the headers, and the origin that it is told.
func (c *cors) allowOrigin(origin string, sent bool) (told string, ok bool) {
	switch {
	case !c.enabled:
		return "", false
	case c.all:
		return "*", true
	case !sent || c.origins == nil || !c.origins.MatchString(origin):
		return "", false
	}
	return origin, true
}
