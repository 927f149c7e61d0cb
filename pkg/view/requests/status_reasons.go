package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// StatusRedirect asks about any redirect, whatever its status.
const StatusRedirect = "redirect"

// The verdicts about a status.
const (
	StatusCertain  = "certain"  // the request, as it is written, gets this status
	StatusPossible = "possible" // something that was read may answer it
	StatusNothing  = "nothing"  // nothing that was read answers it
	StatusUnknown  = "unknown"  // nothing that was read answers it, but not all that may was read or is understood
)

// StatusReasons says where a status may come from that a request got.
type StatusReasons struct {
	Status  string        `json:"status"`  // that was asked about: a number, or redirect
	Verdict string        `json:"verdict"` // certain, possible, nothing, unknown
	Summary string        `json:"summary"` // the answer in one sentence
	Causes  []StatusCause `json:"causes"`  // what may answer with it, in the order in which requests meet it
	Unknown []string      `json:"unknown"` // what may answer with it as well, and is not known
	Notes   []string      `json:"notes"`   // where else the status may come from
}

// StatusCause is a setting of a policy, or something else that was read, that may answer a request
// with a status.
type StatusCause struct {
	Status  any           `json:"status"`            // a number, or "*" where a service chooses it
	Object  model.Ref     `json:"object"`            // that answers: a policy, a rule of a route, a Gateway
	Setting string        `json:"setting,omitempty"` // of the object
	Value   any           `json:"value,omitempty"`   // of the setting
	Source  *view.Source  `json:"source,omitempty"`  // that set it, where a policy did
	Origin  *model.Origin `json:"origin,omitempty"`  // where it is written
	When    string        `json:"when"`              // to which requests, or why: "if …", "because …", "to every request …"
	Certain bool          `json:"certain"`           // to the request as it is written, for certain

	// of the setting in force: why it is, its value in words, its full name, and the target on which
	// it is in force
	why, valueText, fullName string
	place                    *model.Ref
}

// statusExplainer finds what may answer one request with a status.
type statusExplainer struct {
	result *RequestResult
	answer *request.Answer
	res    objectSource
	asked  string
	// reports whether the settings of a kind are not understood
	isGeneric func(model.GroupKind) bool
	out       StatusReasons
}

// objectSource finds objects by their names.
type objectSource interface{ Get(model.Ref) *model.Object }

// explainStatus says what may answer the request with a status. doubts are the reasons why the
// answer to the request is not certain.
func (w *Writer) explainStatus(asked string, a *request.Answer, result *RequestResult, doubts []doubt,
	isGeneric func(model.GroupKind) bool) *StatusReasons {
	e := statusExplainer{result: result, answer: a, res: w.Collector.Resolution.Snapshot, asked: asked,
		isGeneric: isGeneric,
		out:       StatusReasons{Status: asked, Causes: []StatusCause{}, Unknown: []string{}, Notes: []string{}}}
	e.addGateways(w)
	e.addGates()
	e.addTimeouts()
	e.addDenials()
	e.addPoints()
	e.addNamed()
	e.addUnknown(doubts)
	e.setVerdict()
	result.delegatedTo = w.findDelegateInForce(result.Backends)
	return &e.out
}

// findDelegateInForce returns the first of the routes to which a rule delegates on which policies
// are in force; nil if there is none.
func (w *Writer) findDelegateInForce(backends []RequestBackend) *model.Ref {
	g := w.Collector.Resolution.Graph
	for i := range backends {
		ref := backends[i].Ref.WithoutSection()
		for _, route := range g.Lookup(ref) {
			if g.Node(route).Role == topology.Route && slices.ContainsFunc(g.Children(topology.Traffic, route),
				func(rule topology.NodeID) bool { return len(w.findEffectiveAt(rule)) > 0 }) {
				return &ref
			}
		}
	}
	return nil
}

// isAsked reports whether a status is the one that was asked about.
func (e *statusExplainer) isAsked(status string) bool {
	if e.asked == StatusRedirect {
		return len(status) == 3 && status[0] == '3'
	}
	return status == e.asked
}

// addGateways adds what the Gateway answers without a policy: no rule takes the request, a filter
// redirects it, or no backend can be used.
func (e *statusExplainer) addGateways(w *Writer) {
	a, own := e.result, strconv.Itoa(e.result.Status)
	outcome := a.Outcome
	if a.Assumed != "" {
		outcome = a.Assumed
	}
	sure := a.Outcome != "Conditional"
	var c StatusCause
	switch {
	case a.failingText != "" && (e.isAsked("500") || e.isAsked("503")):
		c = e.ruleCause("backendRefs")
		c.Status, c.When = 500, "because "+a.failingText
	case outcome == "BackendError" && (e.isAsked("500") || e.isAsked("503")):
		c = e.ruleCause("backendRefs")
		c.Status, c.When, c.Certain = 500, "because "+e.backendText(), sure && e.isAsked("500")
		if e.isAsked("503") {
			c.When += " (the Gateway API asks for 500, and some implementations answer 503)"
		}
	case a.Status == 0 || !e.isAsked(own):
		return
	case outcome == "Redirect" && a.Route != nil:
		c = e.ruleCause("filters")
		c.Setting = "filters.RequestRedirect"
		c.Status, c.When, c.Certain = a.Status, "to every request of the rule; this one is sent to "+a.Location, sure
	case a.Gateway != "":
		c.Object = w.Collector.Resolution.Node(e.answer.Gateway).Ref
		if e.answer.Listener != topology.None {
			c.Object = w.Collector.Resolution.Node(e.answer.Listener).Ref
		}
		c.Status, c.When, c.Certain = a.Status, "because "+strings.Join(e.plainWhys(), "; "), sure
		c.Origin = e.originOf(c.Object)
	default:
		return
	}
	e.out.Causes = append(e.out.Causes, c)
}

// plainWhys are the comparisons that decided, without what is open.
func (e *statusExplainer) plainWhys() []string {
	return slices.DeleteFunc(slices.Clone(e.result.Why),
		func(s string) bool { return strings.HasPrefix(s, "it depends: ") })
}

// backendText says why no backend gets the request.
func (e *statusExplainer) backendText() string {
	for _, why := range e.plainWhys() {
		if strings.Contains(why, "backend") {
			return why
		}
	}
	return "no backend can be used"
}

// ruleCause is a cause in a field of the rule that takes the request.
func (e *statusExplainer) ruleCause(field string) StatusCause {
	c := StatusCause{Object: *e.result.Route, Setting: field}
	if o := e.res.Get(c.Object.WithoutSection()); o != nil && e.result.Rule != nil {
		c.Origin = model.Problem{}.At(o, "spec", "rules", strconv.Itoa(*e.result.Rule), field).Origin
	}
	return c
}

func (e *statusExplainer) originOf(ref model.Ref) *model.Origin {
	if o := e.res.Get(ref.WithoutSection()); o != nil {
		return model.Problem{}.At(o).Origin
	}
	return nil
}

// addGates adds the settings of policies and the filters that may answer.
func (e *statusExplainer) addGates() {
	if e.result.gates == nil {
		return
	}
	outcome := e.result.gates.Outcome()
	other := func(by protect.Answer) bool { return !e.isAsked(fmt.Sprint(by.Status)) }
	settled := outcome.Certain && !slices.ContainsFunc(outcome.By, other) // nothing before may answer otherwise
	for i := range e.result.MayAnswer {
		one := &e.result.MayAnswer[i]
		status := fmt.Sprint(one.Status)
		if !e.isAsked(status) && status != protect.AnyStatus {
			continue
		}
		certain := settled && slices.ContainsFunc(outcome.By, func(by protect.Answer) bool { return by.Gate == one.Gate }) &&
			one.Gate.IsForMissing(status)
		c := StatusCause{Status: one.Status, Object: one.Object, Setting: one.Field, Certain: certain,
			When: describeRefusal(one.Gate, status)}
		e.fillSetting(&c)
		e.out.Causes = append(e.out.Causes, c)
	}
}

// addTimeouts adds the limits of time, where a timeout of the Gateway is asked about.
func (e *statusExplainer) addTimeouts() {
	if e.result.gates == nil || !e.isAsked("504") {
		return
	}
	for i := range e.result.gates.Before {
		one := &e.result.gates.Before[i]
		if one.Property != gate.Timeout || one.Verdict() != gate.Holds {
			continue
		}
		c := StatusCause{Status: 504, Object: one.Object, Setting: one.Field, When: "if the answer takes longer than this"}
		e.fillSetting(&c)
		e.out.Causes = append(e.out.Causes, c)
	}
}

// addDenials adds the policies that decide about connections, and deny this one.
func (e *statusExplainer) addDenials() {
	if !e.isAsked("403") {
		return
	}
	for i := range e.result.Decisions {
		d := &e.result.Decisions[i]
		if d.Outcome != "Denied" || d.hasGates {
			continue
		}
		for j := range d.By {
			by := &d.By[j]
			e.out.Causes = append(e.out.Causes, StatusCause{Status: 403, Object: by.Policy, Setting: by.formatRule(),
				Origin: by.Origin, When: "because of this: " + d.FormatSentence(), Certain: len(d.By) == 1 && e.result.Outcome != "Conditional"})
		}
	}
}

// addNamed adds the settings in force that name the status, as those of injected faults and direct
// responses do. Retries name statuses that they react to, and answer nothing.
func (e *statusExplainer) addNamed() {
	number, err := strconv.ParseInt(e.asked, 10, 64)
	if err != nil {
		return
	}
	for i := range e.result.Effective {
		item := &e.result.Effective[i]
		for j := range item.Rules {
			rule := &item.Rules[j]
			if strings.Contains(strings.ToLower(rule.Name), "retr") || len(rule.Sources) == 0 ||
				!namesStatus(rule.Name, rule.Value, number) {
				continue
			}
			source := rule.Sources[len(rule.Sources)-1]
			if source.Policy == nil || e.hasCause(*source.Policy, rule.Name) {
				continue
			}
			e.out.Causes = append(e.out.Causes, StatusCause{Status: int(number), Object: *source.Policy,
				Setting: rule.Name, Value: rule.Value, Source: &source, Origin: source.Origin,
				When: "if the setting applies, which names this status", why: rule.Why, valueText: item.SummarizeRule(rule),
				fullName: rule.Name, place: &item.Target})
		}
	}
}

// hasCause reports whether a setting of an object is among the causes.
func (e *statusExplainer) hasCause(object model.Ref, setting string) bool {
	return slices.ContainsFunc(e.out.Causes, func(c StatusCause) bool {
		return c.Object == object && (c.Setting == "" || fitSetting(c.Setting, setting) > 0)
	})
}

// namesStatus reports whether a field that is called a status or a code has a number somewhere in a
// value.
func namesStatus(name string, value any, number int64) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if !strings.Contains(strings.ToLower(key), "retr") && namesStatus(key, inner, number) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(inner any) bool { return namesStatus(name, inner, number) })
	case int64:
		return v == number && (strings.Contains(name, "status") || strings.Contains(name, "code"))
	case float64:
		return v == float64(number) && (strings.Contains(name, "status") || strings.Contains(name, "code"))
	}
	return false
}

// fillSetting adds the value of a setting, and where it is written.
func (e *statusExplainer) fillSetting(c *StatusCause) {
	c.Origin = e.originOf(c.Object)
	if e.result.Route != nil && c.Object == e.result.Route.WithoutSection() {
		field, _, _ := strings.Cut(c.Setting, ".")
		own := e.ruleCause(field)
		c.Object, c.Origin = own.Object, own.Origin
		return
	}
	best := -1
	for i := range e.result.Effective {
		item := &e.result.Effective[i]
		for j := range item.Rules {
			rule := &item.Rules[j]
			at := slices.IndexFunc(rule.Sources, func(s view.Source) bool { return s.Policy != nil && *s.Policy == c.Object })
			fit := fitSetting(rule.Name, c.Setting)
			isPart := strings.HasPrefix(rule.Name, c.Setting+"[")
			if at < 0 || fit < best || fit == best && (!isPart || c.fullName != "") {
				continue
			}
			best = fit
			source := rule.Sources[at]
			c.Source, c.Origin, c.why = &source, source.Origin, rule.Why
			c.fullName, c.place = "", &item.Target
			if fit > 0 || isPart {
				c.fullName = rule.Name
			}
			if fit > 0 {
				c.Value, c.valueText = rule.Value, item.SummarizeRule(rule)
			}
		}
	}
}

// fitSetting says how well the name of a setting in force is that of a setting: 2: the same; 1: one
// is a part of the other; 0: another one.
func fitSetting(name, setting string) int {
	switch {
	case name == setting:
		return 2
	case strings.HasPrefix(name, setting+"."), strings.HasPrefix(setting, name+"."):
		return 1
	}
	return 0
}

// describeRefusal says to which requests a gate answers with a status.
func describeRefusal(g *protect.Gate, status string) string {
	text := "if " + refusalText(g, status)
	for _, r := range g.Reasons {
		switch r.Code {
		case gate.DeniesAll:
			return "to this request, whoever sends it"
		case gate.Condition, gate.Expression, gate.Consumer, gate.ExternalObject, gate.MissingObject:
			return text + "; " + r.Message
		}
	}
	return text
}

// refusalText says when a gate refuses a request.
func refusalText(g *protect.Gate, status string) string {
	if status == protect.AnyStatus {
		return "a service that is asked says so"
	}
	switch g.Property {
	case gate.Authentication:
		return missingCredentialText(g, status)
	case gate.ClientCertificate:
		return "the client shows no valid certificate"
	case gate.Authorization:
		if g.Refuses == protect.AlwaysRefuses {
			return "it does not allow the request, and it does not allow this one"
		}
		return "it does not allow the request"
	case gate.RateLimit:
		return "the limit is used up"
	case gate.IPList:
		return "it does not allow the address of the client"
	case gate.CORS:
		return "it does not allow the origin of the request"
	case gate.WAF:
		return "a rule of the firewall blocks the request"
	case gate.RequestSize:
		return "the request is larger than the limit"
	}
	return "it refuses the request"
}

// missingCredentialText says when a gate refuses a request because of its credential.
func missingCredentialText(g *protect.Gate, status string) string {
	a, name := credentialName(g.Method)
	isOptional := slices.ContainsFunc(g.Reasons, func(r protect.Reason) bool { return r.Code == gate.MissingAllowed })
	switch {
	case g.Method == "jwt" && status == "403" && !g.IsForMissing(status):
		return "the JWT of the request is for another audience"
	case isOptional, !g.IsForMissing(status):
		return "the request has " + a + " " + name + " that is not valid"
	case g.Method == "oidc":
		return "the client is not logged in: it is sent to the login page"
	case g.Refuses == protect.AlwaysRefuses:
		return "the request has no valid " + name + "; the request above has none"
	}
	return "the request has no valid " + name
}

// credentialName is what requests show, by the method of authentication, with its article.
func credentialName(method string) (article, name string) {
	switch method {
	case "jwt":
		return "a", "JWT"
	case "oidc":
		return "a", "login"
	case "basic":
		return "a", "user name and password"
	case "apiKey":
		return "an", "API key"
	case "clientCertificate", "mtls":
		return "a", "client certificate"
	case "hmac":
		return "a", "signature"
	}
	return "a", "credential"
}

// addUnknown adds why something that is not known may answer with the status.
func (e *statusExplainer) addUnknown(doubts []doubt) {
	add := func(text string) {
		if text != "" && !slices.ContainsFunc(e.out.Unknown, func(known string) bool {
			return strings.Contains(known, text) || strings.Contains(text, known)
		}) {
			e.out.Unknown = append(e.out.Unknown, text)
		}
	}
	if g := e.result.gates; g != nil {
		for _, p := range propertiesOfStatus(e.asked) {
			r := g.JudgeProperty(p)
			for _, because := range r.Because {
				if because.Object == nil && len(doubts) > 0 { // a list that is forbidden, which a doubt names
					continue
				}
				if because.Code == gate.NotRead || because.Code == gate.MissingObject {
					add(e.unknownText(&because))
				}
			}
		}
	}
	for i := range e.result.Decisions {
		if d := &e.result.Decisions[i]; d.Outcome == "NotEvaluated" && !d.hasGates && e.isAsked("403") {
			add(d.KindName() + ": " + d.FormatSentence())
		}
	}
	if a := e.result; a.Outcome == "Conditional" && (a.gates == nil || a.ruleUncertain ||
		a.hasUnknownFilter && len(e.out.Unknown) == 0) {
		for _, why := range e.result.Why {
			if rest, found := strings.CutPrefix(why, "it depends: "); found {
				add(rest)
			}
		}
	}
	for _, d := range doubts {
		if d.kind == nil {
			add(d.text)
		}
	}
}

// unknownText says what is not known of a gate that is not read.
func (e *statusExplainer) unknownText(because *protect.Reason) string {
	if because.Object != nil && e.isGeneric(because.Object.GroupKind()) {
		return "what " + because.Object.String() + " does: its kind has no built-in support"
	}
	return because.Message
}

// propertiesOfStatus are the properties whose settings usually answer with a status.
func propertiesOfStatus(status string) []gate.Property {
	switch status {
	case "401":
		return []gate.Property{gate.Authentication}
	case "403":
		return []gate.Property{gate.Authorization, gate.IPList, gate.WAF}
	case "408", "504":
		return []gate.Property{gate.Timeout}
	case "413", "431":
		return []gate.Property{gate.RequestSize}
	case "429":
		return []gate.Property{gate.RateLimit}
	case StatusRedirect, "302", "307":
		return []gate.Property{gate.Authentication, gate.HTTPSRedirect}
	}
	return nil
}

// setVerdict sets the verdict and the summary, and adds where else the status may come from.
func (e *statusExplainer) setVerdict() {
	out, causes, status := &e.out, e.out.Causes, e.asked
	if status == StatusRedirect {
		status = "a redirect"
	}
	certain := slices.IndexFunc(causes, func(c StatusCause) bool { return c.Certain })
	switch {
	case certain >= 0 && len(out.Unknown) == 0:
		out.Verdict = StatusCertain
		out.Summary = fmt.Sprintf("%s comes from %s: this request gets it", status, causes[certain].Object)
		return
	case len(causes) > 0:
		out.Verdict = StatusPossible
		out.Summary = status + " may come from " + view.JoinWithAnd(causeNames(causes))
	case len(out.Unknown) > 0:
		out.Verdict = StatusUnknown
		out.Summary = "cannot tell where " + status +
			" comes from: nothing that was read answers with it, but not everything is known"
	default:
		out.Verdict = StatusNothing
		out.Summary = e.nothingText(status)
	}
	e.addElsewhere(status)
}

// causeNames are the objects of causes, each once.
func causeNames(causes []StatusCause) []string {
	var out []string
	for i := range causes {
		if name := causes[i].Object.String(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// nothingText says that nothing answers with the status: because nothing takes the request, or why
// no policy does.
func (e *statusExplainer) nothingText(status string) string {
	a, text := e.result, "nothing that was read answers with "+status
	switch why := e.absenceText(); {
	case a.Gateway == "" && a.Service == "":
		return "no Gateway that was read takes this request, so " + text
	case a.Route == nil && a.Status != 0:
		return fmt.Sprintf("no rule takes this request: it gets %d, not %s", a.Status, status)
	case why != "":
		return text + ": " + why
	}
	return text
}

// isRedirectAsked reports whether a redirect is asked about, any or one with a certain status.
func (e *statusExplainer) isRedirectAsked() bool {
	return e.asked == StatusRedirect || len(e.asked) == 3 && e.asked[0] == '3'
}

// absenceText says why no policy answers with the status; "" where there is nothing more to say.
func (e *statusExplainer) absenceText() string {
	about := propertiesOfStatus(e.asked)
	switch {
	case e.result.Outcome == "Redirect" && e.result.Route != nil:
		return fmt.Sprintf("%s redirects this request with %d", e.result.Route, e.result.Status)
	case e.result.gates != nil && e.asked == StatusRedirect:
		return "no filter of the rule and no policy redirects"
	case e.result.gates != nil && e.isRedirectAsked():
		return "no filter of the rule and no policy redirects with " + e.asked
	}
	if e.result.gates == nil || len(about) == 0 {
		return ""
	}
	r := e.result.gates.JudgeProperty(about[0])
	if r.Verdict != gate.Fails {
		return ""
	}
	text := "no policy on " + e.result.Route.String() + " " + absentProtection(about[0])
	because := slices.DeleteFunc(slices.Clone(r.Because), func(b protect.Reason) bool { return b.Code == gate.NoGate })
	if reasons := view.JoinReasons(because); reasons != "" {
		text += " (" + reasons + ")"
	}
	return text
}

// absentProtection says what no policy does, where a property does not hold.
func absentProtection(p gate.Property) string {
	switch p {
	case gate.Authentication:
		return "demands a credential"
	case gate.Authorization:
		return "keeps this request out"
	case gate.RateLimit:
		return "limits the rate"
	case gate.RequestSize:
		return "limits the size of requests"
	}
	return "limits the time of requests"
}

// addElsewhere adds what else may answer with the status, outside of what was read.
func (e *statusExplainer) addElsewhere(status string) {
	a := e.result
	note := func(text string) { e.out.Notes = append(e.out.Notes, text) }
	outcome := a.Outcome
	if a.Assumed != "" {
		outcome = a.Assumed
	}
	if outcome != "Matched" && outcome != "Passthrough" {
		switch {
		case len(e.out.Causes) > 0:
		case a.Gateway == "" && a.Service == "":
			note("the host name and the port: no Gateway that was read takes this request")
		default:
			note("what is in front of the Gateway: no backend gets this request")
		}
		return
	}
	backends := "the backend"
	if names := backendNames(a.Backends); len(names) > 0 {
		backends += " (" + view.JoinWithAnd(names) + ")"
	}
	switch {
	case e.isAsked("502"), e.isAsked("503"):
		note("the Gateway itself, if " + backends + " has no ready endpoint or does not answer: endpoints are not read")
		return
	case e.isAsked("504"):
		note("the Gateway itself, if it has a time limit of its own for " + backends)
	}
	text := backends + ", or what is in front of the Gateway"
	if e.isAsked("404") && slices.Contains(a.Filters, "URLRewrite") {
		text += "; a filter of the rule changes the path that the backend gets"
	}
	note(text)
}

// backendNames are the objects that get the request. Routes to which it is delegated are none.
func backendNames(backends []RequestBackend) []string {
	var out []string
	for _, b := range backends {
		if !strings.HasSuffix(b.Ref.Kind, "Route") {
			out = append(out, b.Ref.String())
		}
	}
	return out
}
