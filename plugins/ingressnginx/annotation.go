package ingressnginx

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
)

// risk is how much harm a value of an annotation may do, in the words of annotations-risk-level.
type risk int

const (
	lowRisk risk = iota
	mediumRisk
	highRisk
	criticalRisk
)

// parseRisk reads the value of annotations-risk-level: what is unknown is low.
func parseRisk(text string) risk {
	return risk(max(0, slices.Index([]string{"low", "medium", "high", "critical"}, strings.ToLower(text))))
}

// annotationRule is what the controller makes of the value of an annotation before it reads it.
type annotationRule struct {
	risk  risk
	valid func(string) bool
	alias string // another name, which counts if the annotation is not there or empty
}

// findAnnotationRule returns the rule of an annotation of which the controller knows the name.
func findAnnotationRule(name string) (annotationRule, bool) {
	r, known := annotationRules[name]
	return r, known
}

// The sets of characters of which values may consist.
const (
	plainCharacters = `\-\.\_\~a-zA-Z0-9\/:`
	urlCharacters   = `,:\?&=`
)

var (
	plainPattern       = regexp.MustCompile(`^[` + plainCharacters + `]*$`)
	spacedPattern      = regexp.MustCompile(`^[` + plainCharacters + ` ]*$`)
	listPattern        = regexp.MustCompile(`^[` + plainCharacters + `, ]*$`)
	urlPattern         = regexp.MustCompile(`^[` + plainCharacters + urlCharacters + `]*$`)
	variableURLPattern = regexp.MustCompile(`^[` + plainCharacters + `, ` + urlCharacters + `$]*$`)
	expressionPattern  = regexp.MustCompile(`^[` + plainCharacters + `\^$\[\]\(\)\{\}\*\+\?\|&=\\]*$`)
	targetPattern      = regexp.MustCompile(`^/?[` + plainCharacters + `$]*$`)
	variablePattern    = regexp.MustCompile(`^[A-Za-z0-9\-_\${}]*$`)
	headerListPattern  = regexp.MustCompile(`^[A-Za-z0-9-_, ]*$`)
	sizePattern        = regexp.MustCompile(`^(?i)\d+[bkmg]?$`)
	methodPattern      = regexp.MustCompile(`^(GET|HEAD|POST|PUT|PATCH|DELETE|CONNECT|OPTIONS|TRACE)$`)
	verifyPattern      = regexp.MustCompile(`^(on|off|optional|optional_no_ca)$`)
	switchPattern      = regexp.MustCompile(`^(on|off)$`)
	errorPagePattern   = regexp.MustCompile(
		`^(@[A-Za-z0-9_-]+|((https?://)?[A-Za-z0-9\-.]+(:\d+)?)?(/[A-Za-z0-9\-_.]+)*/?)$`)
	errorCodesPattern   = regexp.MustCompile(`^(?:[4,5]\d{2},?)*$`)
	originsPattern      = regexp.MustCompile(`^((((([a-z]+://)?(\*\.)?[A-Za-z0-9\-.]*(:\d+)?,?)|null)+)|\*)?$`)
	corsMethodsPattern  = regexp.MustCompile(`^([A-Za-z]+,?\s?)+$`)
	corsExposePattern   = regexp.MustCompile(`^(([A-Za-z0-9\-\_]+|\*),?\s?)+$`)
	cookieExpiryPattern = regexp.MustCompile(`(^0|-?[1-9]\d*$)`)
	cookieDomainPattern = regexp.MustCompile(`^(off|[` + plainCharacters + `]+\s+[` + plainCharacters + `]+)$`)
	retryPattern        = regexp.MustCompile(
		`^((error|timeout|invalid_header|http_500|http_502|http_503|http_504|http_403|http_404|http_429|` +
			`non_idempotent|off)\s?)+$`)
	serviceNamePattern  = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)
	hashPattern         = regexp.MustCompile(`^[A-Za-z0-9\-_\${}]*$`)
	indexPattern        = regexp.MustCompile(`^[A-Za-z0-9.\-\_]+$`)
	cipherPattern       = regexp.MustCompile(`^[A-Za-z0-9\+:\_\-!]*$`)
	serverCipherPattern = regexp.MustCompile(
		`^(?:(?:[A-Za-z0-9!:+\-_])*(?:@STRENGTH)*(?:@SECLEVEL=[0-5])*(?:@STRENGTH)*)*$`)
	protocolsPattern  = regexp.MustCompile(`^(TLSv1\.2|TLSv1\.3| )*$`)
	connectionPattern = regexp.MustCompile(`^(close|keep-alive)$`)
	authTypePattern   = regexp.MustCompile(`basic|digest`)
	authFormPattern   = regexp.MustCompile(`auth-file|auth-map`)
)

// matchPattern makes a test that a value is of a pattern, and on one line.
func matchPattern(p *regexp.Regexp) func(string) bool {
	return func(s string) bool { return p.MatchString(s) && !strings.ContainsAny(s, "\r\n") }
}

// matchingWithoutSpaces is matching for values of which spaces do not count.
func matchingWithoutSpaces(p *regexp.Regexp) func(string) bool {
	isMatch := matchPattern(p)
	return func(s string) bool { return isMatch(strings.ReplaceAll(s, " ", "")) }
}

// oneOf makes a test that a value is one of some words.
func oneOf(words ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(words, strings.TrimSpace(s)) }
}

// oneOfAnyCase is oneOf for words whose case does not count.
func oneOfAnyCase(words ...string) func(string) bool {
	isWord := oneOf(words...)
	return func(s string) bool { return isWord(strings.ToLower(s)) }
}

// isProtocol reports whether a value is a protocol that backends are spoken to with.
func isProtocol(s string) bool {
	return slices.Contains([]string{"auto_http", "http", "https", "grpc", "grpcs", "fcgi"},
		strings.ToLower(strings.TrimSpace(s)))
}

func isBoolean(s string) bool {
	_, err := strconv.ParseBool(s)
	return err == nil
}

func isInteger(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func isAnything(string) bool { return true }

// isCommonName reports whether a value is CN= and an expression.
func isCommonName(s string) bool {
	rest, found := strings.CutPrefix(s, "CN=")
	if !found {
		return false
	}
	_, err := regexp.Compile(rest)
	return err == nil
}

// areServerNames reports whether a value is a list of names of servers.
func areServerNames(s string) bool {
	return !slices.ContainsFunc(strings.Split(s, ","),
		func(name string) bool { return !expressionPattern.MatchString(strings.TrimSpace(name)) })
}

func isServerName(s string) bool { return expressionPattern.MatchString(strings.TrimSpace(s)) }

// areRanges reports whether a value is a list of addresses and networks. Of one entry that is wrong
// the controller itself does not take notice where it asks this.
func areRanges(s string) bool {
	_, ok := parseRanges(s)
	return ok
}

// parseRanges reads a list of addresses and networks; false if an entry is neither.
func parseRanges(text string) ([]netip.Prefix, bool) {
	entries := strings.Split(text, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
	}
	return ingress.ParseRanges(entries)
}
