package protect

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Func completes a gate that data cannot describe: it returns the gates in the place of one that a
// rule of a descriptor made. It is pure.
type Func func(in Input, g Gate) []Gate

// Functions are those that vendors registered, by name.
type Functions map[string]Func

// Input is what a Func may look at.
type Input struct {
	*Settings
	Reader *RequestReader // the request
	Rule   *gate.Rule     // of the descriptor
	Path   []string       // where the gate is in the settings
	// everything in force on the path of the request before a backend is chosen, the most specific
	// first
	InForce []*Settings
	// Memo has what functions make of InForce once, for all settings on the path
	Memo *model.Memo

	rulePath RulePath
}

// Gateway returns the Gateway of the request: topology.None if there is none.
func (in Input) Gateway() topology.NodeID  { return in.rulePath.Gateway }
func (in Input) Listener() topology.NodeID { return in.rulePath.Listener }

// Route returns the route that takes the request: topology.None if none does. Gates that ask for it
// are made anew for every rule.
func (in Input) Route() topology.NodeID {
	in.Reader.routeRead = true
	return in.rulePath.Route
}

func (in Input) RouteRule() topology.NodeID {
	in.Reader.routeRead = true
	return in.rulePath.Rule
}

// IsFirst reports whether the settings are the first of a verdict. A Func that judges all settings
// of a kind together does so there.
func (in Input) IsFirst() bool {
	return in.Settings.Rule == nil || in.Settings.Rule == &in.Verdict.Result.Rules[0]
}

// InForceAt is what a kind has in force at a node; nil: nothing.
func (in Input) InForceAt(gk model.GroupKind, id topology.NodeID) *resolve.Verdict {
	n := in.Resolution().Node(id)
	for _, k := range in.Resolution().Kinds {
		if k.GroupKind != gk || !k.IsInUse() || !k.HasResultsAtNode(n) {
			continue
		}
		for _, s := range k.Contexts(id) {
			if !k.IsEmpty(s) {
				return k.Verdict(s)
			}
		}
	}
	return nil
}

// AsDescribed returns the gate as its descriptor describes it: a Func for gates of which only a
// function around it knows more.
func AsDescribed[T any](_ T, g Gate) []Gate { return []Gate{g} }

// RulePath is the path of a request to the rule that takes it: topology.None where it has no such
// node.
type RulePath struct{ Gateway, Listener, Route, Rule topology.NodeID }

// buildGates makes the gates that the rules of a kind make of settings.
func (in Input) buildGates(funcs Functions) []Gate {
	if in.Kind.IsGeneric() {
		return in.buildUnreadGates()
	}
	if in.fault != nil && in.fault.Code == gate.DeniesAll {
		g := Gate{Property: gate.Authorization, Object: in.owner}
		g.setFault(*in.fault, in.Kind.Protects.InError)
		return []Gate{g}
	}
	out := in.buildDescribedGates(funcs)
	if in.conditional {
		status := strconv.Itoa(in.Kind.Protects.InError)
		for i := range out {
			g := &out[i]
			g.Answers = append(slices.Clone(g.Answers), status)
			g.Missing = append(slices.Clone(g.Missing), status)
		}
	}
	if in.Snapshot().HasNoValues() && hasRedactedValue(in.doc) {
		for i := range out {
			out[i].Reasons, out[i].Counters, out[i].Refuses = nil, nil, MayRefuse
			out[i].AddReason(gate.NotRead, out[i].Field)
			out[i].Reasons[0].Message += ": values of settings are left out"
		}
	}
	if in.fault != nil {
		for i := range out {
			out[i].setFault(*in.fault, in.Kind.Protects.InError)
		}
	}
	return out
}

// hasRedactedValue reports whether a value of the settings is redacted.
func hasRedactedValue(v any) bool {
	switch t := v.(type) {
	case string:
		return model.IsRedacted(t)
	case map[string]any:
		for _, inner := range t {
			if hasRedactedValue(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(t, hasRedactedValue)
	}
	return false
}

// setFault makes the gate one of a policy in error.
func (g *Gate) setFault(because Reason, status int) {
	g.Reasons, g.Counters, g.Refuses = []Reason{because}, nil, MayRefuse
	if because.Code == gate.DeniesAll {
		g.Refuses = AlwaysRefuses
		g.Answers = []string{strconv.Itoa(status)}
		g.Missing = g.Answers
	}
}

// buildDescribedGates makes the gates that the rules of the kind describe.
func (in Input) buildDescribedGates(funcs Functions) []Gate {
	var out []Gate
	set := map[gate.Property]bool{}
	rules := in.Kind.Protects.Rules
	for i := range rules {
		if rules[i].Implicit != "" && rules[i].At == nil {
			continue
		}
		made := in.buildRuleGates(&rules[i], funcs)
		set[rules[i].Property] = set[rules[i].Property] || len(made) > 0
		out = append(out, made...)
	}
	for i := range rules {
		if r := &rules[i]; r.Implicit != "" && !set[r.Property] {
			set[r.Property] = true
			g := Gate{Property: r.Property, Object: in.Source(), Group: in.GroupOf(r.Any)}
			g.AddReason(r.Implicit, "")
			g.Refuses = NeverRefuses
			out = append(out, g)
		}
	}
	return out
}

// buildUnreadGates makes the gates of a policy of a kind without a descriptor: it may establish
// everything, or nothing. Numbers and times alone cannot say who may come in.
func (in Input) buildUnreadGates() []Gate {
	numbers := hasOnlyNumbers(in.doc)
	var out []Gate
	for _, p := range gate.Properties() {
		switch p {
		case gate.RateLimit, gate.RequestSize, gate.Timeout, gate.Retry:
		default:
			if numbers {
				continue
			}
		}
		g := Gate{Property: p, Object: in.Source()}
		g.AddReason(gate.NotRead, "")
		out = append(out, g)
	}
	return out
}

var numberOrTime = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([a-zA-Z]{1,2}|%)?([0-9]+[a-z]{1,2})*$`)

// hasOnlyNumbers reports whether all values of settings are numbers, times or sizes.
func hasOnlyNumbers(v any) bool {
	switch t := v.(type) {
	case map[string]any:
		for _, inner := range t {
			if !hasOnlyNumbers(inner) {
				return false
			}
		}
		return true
	case []any:
		for _, inner := range t {
			if !hasOnlyNumbers(inner) {
				return false
			}
		}
		return true
	case bool:
		return false
	case nil:
		return true
	}
	return numberOrTime.MatchString(textOf(v))
}

// buildRuleGates makes the gates of one rule.
func (in Input) buildRuleGates(r *gate.Rule, funcs Functions) []Gate {
	found := []FoundValue{{Value: in.doc}}
	if r.At != nil {
		found = in.FindValues(r.At)
	}
	var out []Gate
	for _, f := range found {
		one := in
		one.Rule, one.Path = r, f.Path
		if !one.isAsked() {
			continue
		}
		g := one.buildGate(f)
		if r.Func == "" {
			out = append(out, one.finishGate(g))
			continue
		}
		if complete := funcs[r.Func]; complete != nil {
			for _, g := range complete(one, g) {
				out = append(out, one.finishGate(g))
			}
		}
	}
	return out
}

// isAsked reports whether the settings are there without which there is no gate.
func (in *Input) isAsked() bool {
	for _, v := range in.Rule.OnlyIf {
		if len(in.findSetting(v)) == 0 {
			return false
		}
	}
	return true
}

// findSetting finds where a setting has a value, in the entry of the gate if the setting is one of
// it.
func (in *Input) findSetting(v gate.Value) []FoundValue {
	found := in.FindValues(in.bindPath(v.Path))
	return slices.DeleteFunc(found, func(f FoundValue) bool { return v.Text != "" && textOf(f.Value) != v.Text })
}

// bindPath returns a path with the keys of the gate in the place of its wildcards, as far as the
// two agree.
func (in *Input) bindPath(path []string) []string {
	out := slices.Clone(path)
	for i, name := range in.Rule.At {
		if i >= len(path) || path[i] != name || i >= len(in.Path) {
			break
		}
		out[i] = in.Path[i]
	}
	return out
}

// buildGate makes the gate of one value.
func (in *Input) buildGate(f FoundValue) Gate {
	r := in.Rule
	g := Gate{Property: r.Property, Method: r.Method, Field: fieldName(f.Path), Object: in.Source(f.Path...),
		Group: in.GroupOf(r.Any), Order: r.Order, Reads: r.Reads,
		Answers: in.formatStatuses(r.Answers), Missing: in.formatStatuses(r.Missing), settingPath: strings.Join(f.Path,
			".")}
	if fields, ok := f.Value.(map[string]any); ok {
		for _, name := range sortedKeys(fields) {
			if method := r.Methods[name]; method != "" {
				g.Method = method
			}
		}
	}
	for _, u := range r.Unless {
		for _, at := range in.findSetting(u.Value) {
			g.addReasonAt(u.Code, at.Path, in)
		}
	}
	if r.Always != "" {
		g.AddReason(r.Always, g.Field)
	}
	if r.Constant != "" {
		if code := findConstant(r.Constant, f.Value); code != "" {
			g.AddReason(code, g.Field)
		}
	}
	if r.Counter != nil {
		g.Counters = []Counter{in.readCounter(f)}
	}
	return g
}

// addReasonAt adds a reason for a setting, and names who wrote that.
func (g *Gate) addReasonAt(code gate.Code, path []string, in *Input) {
	if g.HasReason(code) {
		return
	}
	object := in.Source(path...)
	g.Reasons = append(g.Reasons, Reason{Code: code, Object: &object, Field: fieldName(path),
		Message: formatReason(code, object, fieldName(path))})
}

// finishGate sets what the gate does with the request, unless a function has.
func (in *Input) finishGate(g Gate) Gate {
	if g.Missing == nil {
		g.Missing = g.Answers
	}
	if g.Refuses == MayRefuse && !g.mayRefuse {
		g.Refuses = in.findRefusal(&g)
	}
	for i := range g.Counters {
		g.Counters[i].Limit = numberOf(g.Counters[i].Limit)
	}
	return g
}

// findRefusal says what a gate does with the request: one without the credential is refused if the
// gate demands it.
func (in *Input) findRefusal(g *Gate) Refusal {
	missing := g.Property == gate.Authentication && in.Reader.LacksCredential(in.credentialPlaces(g))
	out := MayRefuse
	if missing && g.Method != "" {
		out = AlwaysRefuses
	}
	for _, r := range g.Reasons {
		switch r.Code {
		case gate.DeniesAll:
			return AlwaysRefuses
		case gate.MissingAllowed:
			if missing {
				return NeverRefuses
			}
			out = MayRefuse
		case gate.AnonymousAllowed, gate.NeverRefused, gate.AllowsAll, gate.AnyAddress, gate.AnyOrigin, gate.Unlimited,
			gate.DryRun, gate.Disabled, gate.Skipped, gate.Consumer:
			return NeverRefuses
		default:
			out = MayRefuse
		}
	}
	return out
}

// credentialPlaces returns where the gate looks for the credential.
func (in *Input) credentialPlaces(g *Gate) []string {
	if len(g.Reads) > 0 {
		return g.Reads
	}
	switch g.Method {
	case "jwt", "basic", "introspection", "tokenReview", "hmac", "ldap":
		return []string{"header authorization"}
	case "oidc":
		return []string{"cookie"}
	case "clientCertificate", "mtls":
		return []string{"connection"}
	}
	return nil
}

// GroupOf names alternatives of one place: gates of one group are alternatives.
func (in *Input) GroupOf(word string) string {
	if word == "" {
		return ""
	}
	return in.Kind.Name() + " " + strconv.Itoa(int(in.Node)) + " " + word
}

// formatStatuses returns the statuses of a rule as text.
func (in *Input) formatStatuses(all []gate.Status) []string {
	if all == nil {
		return nil
	}
	out := make([]string, 0, len(all))
	for _, s := range all {
		switch text := in.Text(in.bindPath(s.At)...); {
		case s.Any:
			out = append(out, AnyStatus)
		case s.At != nil && text != "":
			out = append(out, text)
		case s.Number != 0:
			out = append(out, strconv.Itoa(s.Number))
		}
	}
	return out
}

// AnyStatus stands for a status that a service chooses.
const AnyStatus = "*"

// Reference is the object that settings name at a path: its name, and perhaps its kind, group and
// namespace, which is else that of the policy.
func (s *Settings) Reference(at []string, gk model.GroupKind) model.Ref {
	ref := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: s.Source(at...).Namespace}
	fields, ok := s.Value(at...).(map[string]any)
	if !ok {
		ref.Name = s.Text(at...)
		return ref
	}
	ref.Name = textOf(fields["name"])
	if ns := textOf(fields["namespace"]); ns != "" {
		ref.Namespace = ns
	}
	if kind := textOf(fields["kind"]); kind != "" {
		ref.Kind = kind
	}
	if group := textOf(fields["group"]); group != "" {
		ref.Group = group
	}
	return ref
}

// readCounter reads how a limit counts. A text in quotes is a word; all else is a path below the
// gate.
func (in *Input) readCounter(f FoundValue) Counter {
	rule := in.Rule.Counter
	out := Counter{Scope: rule.Scope, Replicas: rule.Replicas}
	out.Limit = readWord(rule.Limit, func(path []string) any { return valueAt(f.Value, path) })
	out.Per = textOf(readWord(rule.Per, func(path []string) any { return valueAt(f.Value, path) }))
	if rule.Key == "" {
		return out
	}
	if word, quoted := cutQuotes(rule.Key); quoted {
		out.Key = []string{word}
		return out
	}
	for _, at := range findValues(f.Value, nil, strings.Split(rule.Key, ".")) {
		out.Key = append(out.Key, textOf(at.Value))
	}
	return out
}

func readWord(text string, value func(path []string) any) any {
	if word, quoted := cutQuotes(text); quoted || text == "" {
		if word == "" {
			return nil
		}
		return word
	}
	return value(strings.Split(text, "."))
}

func cutQuotes(text string) (string, bool) {
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		return text[1 : len(text)-1], true
	}
	return "", false
}

// numberOf is a value as answers show it: whole numbers without a fraction. A map or a list is no
// limit: nil.
func numberOf(v any) any {
	switch t := v.(type) {
	case float64:
		if math.Abs(t) < 1<<53 && t == math.Trunc(t) {
			return int64(t)
		}
	case map[string]any, []any:
		return nil
	}
	return v
}
