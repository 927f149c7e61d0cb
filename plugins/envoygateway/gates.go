package envoygateway

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"envoygateway.APIKey": buildAPIKeyGate, "envoygateway.OIDC": buildOIDCGate,
		"envoygateway.JWT":           buildJWTGate,
		"envoygateway.Authorization": buildAuthorizationGate, "envoygateway.RateLimit": buildRateLimitGate,
		"envoygateway.DirectResponse": buildDirectResponseGate}
}

// buildAPIKeyGate tells where keys are read from.
func buildAPIKeyGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Reads = nil
	for _, from := range in.List("apiKeyAuth", "extractFrom") {
		g.Reads = append(g.Reads, listPlaces(from, "headers", "header")...)
		g.Reads = append(g.Reads, listPlaces(from, "params", "query")...)
		g.Reads = append(g.Reads, listPlaces(from, "cookies", "cookie")...)
	}
	return []protect.Gate{g}
}

// listPlaces lists the places that one entry of extractFrom names.
func listPlaces(from any, field, where string) []string {
	fields, _ := from.(map[string]any)
	list, _ := fields[field].([]any)
	var out []string
	for _, entry := range list {
		name, _ := entry.(string)
		if named, ok := entry.(map[string]any); ok {
			name, _ = named["name"].(string)
		}
		if name != "" {
			out = append(out, where+" "+name)
		}
	}
	return out
}

// buildOIDCGate lets requests with the header of a token pass to the JWT providers, if the policy
// says so: then one of the two is enough.
func buildOIDCGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("oidc", "passThroughAuthHeader") == "true" && len(in.List("jwt", "providers")) > 0 {
		g.Group = in.GroupOf("oidc or jwt")
		if slices.ContainsFunc(listTokenPlaces(in), func(place string) bool { return in.Reader.HasCredential(place) }) {
			g.Refuses = protect.NotAsked
		}
	}
	for _, deny := range in.List("oidc", "denyRedirect", "headers") {
		if matchesHeader(in.Reader, deny) {
			g.Missing = []string{"401"}
			return []protect.Gate{g}
		}
	}
	return []protect.Gate{g}
}

// listTokenPlaces are where the JWT providers look for tokens.
func listTokenPlaces(in protect.Input) []string {
	var out []string
	for _, provider := range in.List("jwt", "providers") {
		fields, _ := provider.(map[string]any)
		from := fields["extractFrom"]
		if from == nil {
			out = append(out, "header authorization", "query access_token")
			continue
		}
		out = append(append(append(out, listPlaces(from, "headers", "header")...), listPlaces(from, "params",
			"query")...), listPlaces(from, "cookies", "cookie")...)
	}
	return out
}

// buildJWTGate is the gate of the providers, of which one is enough. What is let in without a
// token, or with a bad one, is still kept out where the authorization demands claims.
func buildJWTGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Field, g.Reads = "jwt.providers", listTokenPlaces(in)
	if len(in.FindValues([]string{"jwt", "providers", "*", "audiences"})) > 0 {
		g.Missing, g.Answers = g.Answers, append(slices.Clone(g.Answers), "403") // to a token for another audience
	}
	if in.Value("oidc") != nil && in.Text("oidc", "passThroughAuthHeader") == "true" {
		g.Group = in.GroupOf("oidc or jwt")
		if in.Text("jwt", "failOpen") != "true" {
			g.Reasons = nil // without a token OIDC is asked, so that none may be missing
		}
		if in.Reader.LacksCredential(g.Reads) {
			g.Refuses = protect.NotAsked
		}
	}
	if len(g.Reasons) > 0 {
		if found, _, is := judgeAuthorization(in); is && found.Anonymous == gate.Holds && !found.DeniesAll {
			switch {
			case g.Refuses == protect.NotAsked:
			case in.Text("jwt", "failOpen") == "true":
				g.Refuses = protect.NeverRefuses
			case in.Reader.LacksCredential(g.Reads):
				g.Refuses = protect.NeverRefuses
			}
			g.Reasons = nil
		}
	}
	return []protect.Gate{g}
}

// buildAuthorizationGate is the gate of the rules of an authorization, of which the first that
// matches decides.
func buildAuthorizationGate(in protect.Input, g protect.Gate) []protect.Gate {
	found, whole, is := judgeAuthorization(in)
	if !is {
		return nil
	}
	field := "authorization"
	switch {
	case found.DeniesAll && g.Property != gate.Authorization:
		return nil // one gate that lets nobody through says so for every property
	case found.DeniesAll:
		g.AddReason(gate.DeniesAll, field)
		g.Refuses = protect.AlwaysRefuses
	case g.Property == gate.Authorization && whole.Refuses == gate.Fails:
		g.AddReason(gate.AllowsAll, field)
	case g.Property == gate.Authorization && found.Refuses == gate.Depends:
		g.AddReason(gate.Expression, field)
	case g.Property == gate.IPList:
		if !asksAddresses(in) {
			return nil
		}
		switch found.Listed {
		case gate.Fails:
			g.AddReason(gate.Skipped, field)
		case gate.Depends:
			g.AddReason(gate.Expression, field)
		}
	case g.Property == gate.Authentication:
		if !asksIdentities(in) {
			return nil
		}
		g.Method = "jwt"
		switch found.Anonymous {
		case gate.Fails:
			g.AddReason(gate.Skipped, field)
		case gate.Depends:
			g.AddReason(gate.Expression, field)
		}
	}
	if g.Property == gate.Authorization {
		switch {
		case found.Refuses == gate.Fails:
			g.Refuses = protect.NeverRefuses
		case found.ReadsIdentity && found.Anonymous == gate.Holds && in.Reader.LacksCredential(listTokenPlaces(in)):
			g.Refuses = protect.AlwaysRefuses
		}
	}
	return []protect.Gate{g}
}

// judgeAuthorization judges the rules for the request, and as a whole: what is asked then is one
// more thing that rules look at. Where the login demands the token that rules ask for, everybody
// who gets to them has one: addresses are judged so, and whether anybody gets through.
func judgeAuthorization(in protect.Input) (found, whole protect.Findings, is bool) {
	if in.Value("authorization") == nil {
		return found, whole, false
	}
	found = judgeRules(in, ofRequest)
	known := judgeRules(in, ofKnown)
	found.Listed, found.DeniesAll = known.Listed, found.DeniesAll || known.DeniesAll
	return found, judgeRules(in, ofAll), true
}

// requestSet says of which requests rules are judged.
type requestSet uint8

const (
	ofRequest requestSet = iota // the one that is looked at, whoever sends it
	ofKnown                     // that one, with the token that the login demands
	ofAll                       // all together
)

// judgeRules judges the rules for some requests.
func judgeRules(in protect.Input, of requestSet) protect.Findings {
	var d protect.Decision
	facts := map[string]protect.Fact{} // what is asked twice has one answer
	fact := func(kind protect.FactKind, asked any) protect.Fact {
		key := fmt.Sprint(kind, asked)
		if _, ok := facts[key]; !ok {
			if networks, ok := asked.([]any); ok && kind == protect.Address {
				facts[key] = d.AddNetworks("client", networks)
			} else {
				facts[key] = d.AddFact(kind)
			}
		}
		return facts[key]
	}
	type rule struct {
		allow bool
		facts []protect.Fact
	}
	var rules []rule
	last := in.Text("authorization", "defaultAction") == "Allow"
	for _, entry := range in.List("authorization", "rules") {
		one := rule{allow: textIn(entry, "action") != "Deny"}
		operation := valueIn(entry, "operation")
		matches := matchesOperation(in.Reader, operation)
		principal, _ := valueIn(entry, "principal").(map[string]any)
		for _, h := range listIn(principal, "headers") {
			matches = matchesValues(in.Reader, h) && matches
			if of == ofAll {
				one.facts = append(one.facts, fact(protect.Unknown, h))
			}
		}
		if of == ofAll {
			matches = true
			if operation != nil {
				one.facts = append(one.facts, fact(protect.Unknown, operation))
			}
		}
		if list := listIn(principal, "clientCIDRs"); len(list) > 0 && !protect.CoversAll(list) {
			one.facts = append(one.facts, fact(protect.Address, list))
		}
		if jwt := principal["jwt"]; jwt != nil {
			if of != ofKnown || !demandsToken(in, textIn(jwt, "provider")) {
				one.facts = append(one.facts, fact(protect.Identity, textIn(jwt, "provider")))
			}
			if restrictsIdentity(jwt) {
				one.facts = append(one.facts, fact(protect.Unknown, jwt))
			}
		}
		if places := principal["clientIPGeoLocations"]; places != nil {
			one.facts = append(one.facts, fact(protect.Unknown, places))
		}
		if cel := textIn(entry, "cel"); cel != "" && !protect.IsTrue(cel) {
			one.facts = append(one.facts, fact(protect.Unknown, cel))
		}
		if matches {
			rules = append(rules, one)
		}
	}
	d.Allows = func(holds func(protect.Fact) bool) bool {
		for _, one := range rules {
			if !slices.ContainsFunc(one.facts, func(f protect.Fact) bool { return !holds(f) }) {
				return one.allow
			}
		}
		return last
	}
	return d.Judge()
}

// demandsToken reports whether the login lets nobody in without a token of a provider.
func demandsToken(in protect.Input, provider string) bool {
	providers := in.List("jwt", "providers")
	return len(providers) == 1 && textIn(providers[0], "name") == provider && in.Text("jwt", "optional") != "true" &&
		in.Text("jwt", "failOpen") != "true" &&
		(in.Value("oidc") == nil || in.Text("oidc", "passThroughAuthHeader") != "true")
}

// restrictsIdentity reports whether a principal asks for more than a token of the provider.
func restrictsIdentity(jwt any) bool {
	return len(listIn(jwt, "claims"))+len(listIn(jwt, "scopes")) > 0
}

func asksIdentities(in protect.Input) bool {
	return slices.ContainsFunc(in.List("authorization", "rules"),
		func(rule any) bool { return valueIn(valueIn(rule, "principal"), "jwt") != nil })
}

func asksAddresses(in protect.Input) bool {
	return slices.ContainsFunc(in.List("authorization", "rules"),
		func(rule any) bool { return len(listIn(valueIn(rule, "principal"), "clientCIDRs")) > 0 })
}

// buildRateLimitGate is the gate of one rule of a rate limit. What its selectors do not select is
// not counted.
func buildRateLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("rateLimit", "type") == "Global" != strings.HasPrefix(g.Field, "rateLimit.global") {
		return nil
	}
	g.Group = in.GroupOf(strings.Join(in.Path, ".")) // each rule counts, whatever others do
	if valueIn(in.Value(in.Path...), "clientSelectors") != nil {
		code, byAddress := explainMissed(in.Reader, valueIn(in.Value(in.Path...), "clientSelectors"))
		if code != "" {
			g.AddReason(code, g.Field)
		}
		if byAddress && len(g.Reasons) == 1 {
			g.SetMayRefuse()
		}
	}
	return []protect.Gate{g}
}

// explainMissed tells why selectors, all of which have to hold, do not select the request for
// certain, and whether its address alone decides; "" if they do.
func explainMissed(l *protect.RequestReader, selectors any) (code gate.Code, byAddress bool) {
	list, _ := selectors.([]any)
	for _, s := range list {
		methods := listIn(s, "methods")
		matched := len(methods) == 0
		for _, m := range methods {
			matched = l.IsMethod(textIn(m, "value")) != (valueIn(m, "invert") == true) || matched
		}
		if path := valueIn(s, "path"); path != nil {
			matched = matchesPath(l, path) && matched
		}
		for _, h := range listIn(s, "headers") {
			matched = matchesHeader(l, h) && matched
		}
		cidr := valueIn(s, "sourceCIDR")
		switch {
		case !matched:
			return gate.Skipped, false
		case cidr != nil && (valueIn(cidr, "invert") == true || !protect.CoversAll(textIn(cidr, "value"))):
			code, byAddress = gate.Skipped, true
		case len(listIn(s, "queryParams")) > 0 && code == "":
			code = gate.Condition
		}
	}
	return code, byAddress
}

// matchesOperation reports whether the request is an operation that a rule is for; without one it
// is for all.
func matchesOperation(l *protect.RequestReader, operation any) bool {
	methods := listIn(operation, "methods")
	matches := len(methods) == 0
	for _, m := range methods {
		text, _ := m.(string)
		matches = l.IsMethod(text) || matches
	}
	if path := valueIn(operation, "path"); path != nil {
		matches = matchesPath(l, path) && matches
	}
	return matches
}

// matchesPath reports whether the path of the request matches.
func matchesPath(l *protect.RequestReader, path any) bool {
	value, out := textIn(path, "value"), false
	switch textIn(path, "type") {
	case "Exact":
		out = l.IsPath(value)
	case "RegularExpression":
		out, _ = l.PathMatches(value)
	default:
		out = value == "/" || value == "" || l.IsUnderPath(value)
	}
	return out != (valueIn(path, "invert") == true)
}

// matchesHeader reports whether a header of the request matches; of one whose values are told apart
// any is one.
func matchesHeader(l *protect.RequestReader, header any) bool {
	name, value, out := textIn(header, "name"), textIn(header, "value"), false
	switch textIn(header, "type") {
	case "Distinct":
		out = l.HasHeader(name)
	case "RegularExpression":
		out, _ = l.HeaderMatches(name, value)
	case "Prefix":
		out, _ = l.HeaderMatches(name, regexp.QuoteMeta(value)+"(?s:.*)")
	case "Suffix":
		out, _ = l.HeaderMatches(name, "(?s:.*)"+regexp.QuoteMeta(value))
	default:
		out = l.HeaderIs(name, value)
	}
	return out != (valueIn(header, "invert") == true)
}

// matchesValues reports whether a header of the request has one of some values.
func matchesValues(l *protect.RequestReader, header any) bool {
	out := false
	for _, v := range listIn(header, "values") {
		text, _ := v.(string)
		out = l.HeaderIs(textIn(header, "name"), text) || out
	}
	return out
}

func valueIn(v any, name string) any {
	fields, _ := v.(map[string]any)
	return fields[name]
}

func textIn(v any, name string) string {
	text, _ := valueIn(v, name).(string)
	return text
}

func listIn(v any, name string) []any {
	list, _ := valueIn(v, name).([]any)
	return list
}
