package dopolicy

import (
	"errors"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cover"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/describe"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/lint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Input is one input with its effective policies. Its methods answer questions: what they return
// is what the program prints as JSON. They change nothing and may be called by several goroutines.
type Input struct {
	*resolve.Resolution
	// Read is the input as it was read, before what controllers generate from it.
	Read   *model.Snapshot
	engine *Engine

	readProxies func() []*ingress.Proxy
}

// Proxies are those of the Ingress objects of the input.
func (in *Input) Proxies() []*ingress.Proxy {
	if in.readProxies == nil {
		return nil
	}
	return in.readProxies()
}

// Engine is what the input was opened with.
func (in *Input) Engine() *Engine { return in.engine }

// With is the input with other objects, under the same engine.
func (in *Input) With(read *model.Snapshot) *Input { return in.engine.Resolve(read) }

// Policy finds a policy and its kind. nil: no policy has the reference.
func (in *Input) Policy(ref model.Ref) (*resolve.Kind, *policy.Policy) {
	k := in.Kind(ref.GroupKind())
	if k == nil {
		return nil, nil
	}
	for _, p := range k.Policies {
		if p.Ref() == ref {
			return k, p
		}
	}
	return nil, nil
}

// Effective says which policies are in force on each route rule, with the source of every setting,
// and what the requests of each rule are protected by.
func (in *Input) Effective(q view.Query) *effective.EffectivePolicyList {
	q.Judges, q.Proxies = in.engine.judges, in.Proxies()
	return effective.List(in.Resolution, q)
}

// EffectivePolicies is Effective without protection, which takes longer.
func (in *Input) EffectivePolicies(q view.Query) *effective.EffectivePolicyList {
	q.Proxies = in.Proxies()
	return effective.List(in.Resolution, q)
}

// StreamEffective is Effective with one item at a time.
func (in *Input) StreamEffective(q view.Query) *effective.PolicyStream {
	q.Judges, q.Proxies = in.engine.judges, in.Proxies()
	return effective.Stream(in.Resolution, q)
}

// Reach says where a policy is in force; rule narrows it to one setting, "" to none.
func (in *Input) Reach(k *resolve.Kind, p *policy.Policy, rule string) *reach.PolicyReach {
	out := reach.Find(in.Resolution, k, p, rule)
	out.NotFor = in.findBypasses()(p.Ref())
	return out
}

// findBypasses returns what says for which requests a policy is not in force though it is at its place.
func (in *Input) findBypasses() func(model.Ref) []string {
	return protection.FindBypasses(in.Resolution, in.Matcher(), in.engine.judges)
}

// Overridden says which settings of the policies are not in force, and why; rules narrows each
// policy to one setting, "" to none. Without policies it is about all of them.
func (in *Input) Overridden(q view.Query, policies []*policy.Policy, rules []string) *overridden.OverriddenRuleList {
	switch len(policies) {
	case 0:
		return overridden.List(in.Resolution, q, nil, "")
	case 1:
		return overridden.List(in.Resolution, q, policies[0], rules[0])
	}
	return overridden.ListOfPolicies(in.Resolution, q, policies, rules)
}

// Explain says step by step how policies were merged; rule narrows it to one setting.
func (in *Input) Explain(q view.Query, rule string) *explain.Explanation {
	return explain.Explain(in.Resolution, q, rule)
}

// Matrix says who governs each route rule, with a column for each policy kind.
func (in *Input) Matrix(q matrix.Query) (*matrix.PolicyMatrix, error) {
	q.Matcher, q.Judges, q.Proxies = in.Matcher(), in.engine.judges, in.Proxies()
	return matrix.Build(in.Resolution, q)
}

// Status predicts the conditions that controllers write, and compares them with those reported.
func (in *Input) Status(q status.Query) *status.StatusList {
	q.Bypasses = in.findBypasses()
	return status.Predict(in.Resolution, q, in.engine.StatusFunctions())
}

// DescribeQuery says which object Describe is about: a policy with its kind and the names of its
// settings, or a target with its nodes and those of them through which traffic comes to rules.
type DescribeQuery struct {
	Policy     *policy.Policy
	PolicyKind *resolve.Kind
	Settings   []string

	Object           model.Ref
	Targets, Through []topology.NodeID

	Kinds []model.GroupKind // nil: every policy kind
}

// Describe says what there is to know about one object.
func (in *Input) Describe(q DescribeQuery) *describe.ObjectDescription {
	object := q.Object
	a := describe.Answers{Settings: q.Settings, Status: in.Status(status.Query{Objects: true, Kinds: q.Kinds}),
		Check: in.Check(check.Options{Kinds: q.Kinds})}
	if q.Policy != nil {
		object = q.Policy.Ref()
		a.Reach = in.Reach(q.PolicyKind, q.Policy, "")
		a.Overridden = in.Overridden(view.Query{Kinds: q.Kinds}, []*policy.Policy{q.Policy}, []string{""})
	} else {
		query := view.Query{Targets: q.Targets, Through: q.Through, Kinds: q.Kinds}
		a.Effective = in.EffectivePolicies(query)
		a.Overridden = in.Overridden(query, nil, nil)
	}
	return describe.Describe(in.Resolution, object, a)
}

// Topology is the graph of targets with their policies, and where each is in force.
func (in *Input) Topology(q graph.Query) *graph.Topology {
	q.Judges, q.Query.Proxies = in.engine.judges, in.Proxies()
	return graph.Build(in.Resolution, q)
}

// PolicyKinds lists the policy kinds; only narrows them, nil to none.
func (in *Input) PolicyKinds(only []model.GroupKind) *kinds.KindList {
	return kinds.List(in.Resolution, only, in.engine.admission.Sources(in.Read))
}

// Matcher finds what becomes of requests: the listener, the route and the rule that they hit.
func (in *Input) Matcher() *request.Matcher { return in.engine.newMatcher(in.Resolution) }

// Request says what becomes of one request that Matcher answered, and which policies apply.
func (in *Input) Request(one requests.ExpectedAnswer, kinds []model.GroupKind) *requests.RequestAnswer {
	return requests.Answer(in.Resolution, one, kinds, in.engine.judges)
}

// Requests is Request for several requests.
func (in *Input) Requests(all []requests.ExpectedAnswer, kinds []model.GroupKind) *requests.RequestAnswerList {
	return requests.AnswerAll(in.Resolution, all, kinds, in.engine.judges)
}

// RequestAtEach is Request for one request that several Gateways may take.
func (in *Input) RequestAtEach(all []requests.ExpectedAnswer, kinds []model.GroupKind) *requests.RequestAnswerList {
	return requests.AnswerAtEachGateway(in.Resolution, all, kinds, in.engine.judges)
}

// SpellingsAround are warnings about other spellings of a request that get around policies which
// are in force for this one; listener is as the user named it.
func (in *Input) SpellingsAround(one *request.Answer, listener string) ([]model.Problem, error) {
	return prove.FindBypassOfRequest(in.Resolution, in.Matcher(), one, listener, in.engine.judges)
}

// EffectiveForRequest says which policies are in force on the path of a request.
func (in *Input) EffectiveForRequest(one *request.Answer, kinds []model.GroupKind) *effective.EffectivePolicyList {
	return requests.EffectivePolicies(in.Resolution, one, kinds)
}

// Connection says whether policies let a connection between two pods or addresses through. The
// engine must have been made with Workloads.
func (in *Input) Connection(q requests.ConnectionQuery, kinds []model.GroupKind,
	expect ...requests.Expect) *requests.ConnectionAnswer {
	return requests.Connection(in.Resolution, q, kinds, in.engine.judges, expect...)
}

// ProofQuery asks what holds for requests. NewProofQuery makes one.
type ProofQuery struct {
	prove.Query
	made bool
}

// NewProofQuery asks about the requests that are described. What has to hold for them is added to
// the query: Require, Properties, Property or Holds. Errors are *space.AskedError.
func NewProofQuery(asked space.Selection) (*ProofQuery, error) {
	scope, wrong := asked.ToScope()
	if wrong != nil {
		return nil, wrong
	}
	return &ProofQuery{prove.Query{Scope: scope, Asked: asked.Describe()}, true}, nil
}

// Prove decides whether every request that the query means has what it asks for, and looks for
// spellings of requests that get around what holds.
func (in *Input) Prove(q *ProofQuery) (*prove.Proof, error) {
	if !q.made {
		return nil, errors.New("the query names no requests: make it with NewProofQuery")
	}
	return in.engine.proveWithSpellings(in.Resolution, q.Query)
}

func (e *Engine) proveWithSpellings(r *resolve.Resolution, q prove.Query) (*prove.Proof, error) {
	m := e.newMatcher(r)
	out, err := prove.Prove(r, m, q, e.judges)
	if err == nil {
		err = out.FindSpellings(r, m, q, e.judges)
	}
	return out, err
}

// Check gathers everything that is wrong in the input. The options' catalogue and what looks for
// findings are those of the engine.
func (in *Input) Check(o check.Options) *check.Report {
	return check.Run(in.Resolution, in.engine.completeOptions(o))
}

// completeOptions gives a check what documents findings, what decides about requests, and what looks for
// findings of vendors.
func (e *Engine) completeOptions(o check.Options) check.Options {
	o.Catalogue = e.Rules()
	o.Unjudged = func(r *resolve.Resolution) []model.Problem {
		return e.admission.Unjudged(r.Snapshot, func(gk model.GroupKind) bool { return r.Kind(gk) != nil })
	}
	o.Findings = func(r *resolve.Resolution) []model.Problem {
		proxies := plugin.ReadProxies(e.plugins, r.Snapshot)
		out := append(plugin.FindProblems(e.plugins, r), lint.FindSharedHosts(r, proxies)...)
		for _, p := range proxies {
			out = append(out, p.Problems...)
		}
		return out
	}
	o.Requests = e.Deciders()
	o.Requests.Prove = e.proveWithSpellings
	o.Spellings = func(r *resolve.Resolution) []model.Problem {
		return prove.FindSpellingBypasses(r, e.newMatcher(r), e.judges)
	}
	o.Protection = func(r *resolve.Resolution) []model.Problem {
		m := e.newMatcher(r)
		return append(protection.Findings(r, m, e.judges), protection.PointFindings(r, m, e.judges)...)
	}
	return o
}

// Audit compares what should be in force with what proxies do.
func (in *Input) Audit(proxies []*dataplane.Proxy, kinds []model.GroupKind, namespaces func(string) bool,
	problems []model.Problem) *audit.Report {
	return in.auditEffective(in.EffectivePolicies(view.Query{}), proxies, kinds, namespaces, problems)
}

func (in *Input) auditEffective(effective *effective.EffectivePolicyList, proxies []*dataplane.Proxy,
	kinds []model.GroupKind,
	namespaces func(string) bool, problems []model.Problem) *audit.Report {
	return audit.Run(audit.Input{Resolution: in.Resolution, Effective: effective, Proxies: proxies,
		Mappings: in.engine.Mappings(), Kinds: kinds, In: namespaces, Problems: problems})
}

// ReportQuery is what a report covers.
type ReportQuery struct {
	view.Query
	In      func(namespace string) bool // nil: every namespace
	Check   check.Options
	Dumps   bool // the proxies below were given
	Proxies []*dataplane.Proxy
	Facts   report.Facts
}

func (in *Input) reportQuery(q ReportQuery) report.Query {
	out := report.Query{Query: q.Query, In: q.In, Check: in.engine.completeOptions(q.Check),
		Status: in.engine.StatusFunctions(),
		Classes: func(r *resolve.Resolution, namespaces func(string) bool) (*prove.RuleClassList, error) {
			return prove.ClassesOfRules(r, in.engine.newMatcher(r), in.engine.judges, namespaces)
		},
		Protection: func(r *resolve.Resolution, namespaces func(string) bool) (*protection.RuleProtectionList, error) {
			return protection.ProtectionOfRules(r, in.engine.newMatcher(r), in.engine.judges, namespaces)
		}}
	if q.Dumps {
		out.Audit = func(effective *effective.EffectivePolicyList) *audit.Report {
			return in.auditEffective(effective, q.Proxies, q.Kinds, q.In, nil)
		}
	}
	return out
}

// Report answers all questions in one document.
func (in *Input) Report(q ReportQuery) (*report.Report, error) {
	return report.Gather(in.Resolution, in.reportQuery(q), q.Facts)
}

// PackReport is Report as a page holds it; draw may take nodes out of the topology.
func (in *Input) PackReport(q ReportQuery, draw func(*graph.Topology) *graph.Topology) (*report.Packed, error) {
	return report.Pack(in.Resolution, in.reportQuery(q), q.Facts, draw)
}

// Cover changes the input, one thing at a time, and finds what the requirements do not notice; more
// says whether the budget lasts for another change.
func (in *Input) Cover(requirements []*requirement.Requirement, more func(tried int) bool) *cover.Report {
	return cover.Run(in.Read, cover.Query{
		Requirements: requirements,
		Resolve:      in.engine.resolveSnapshot,
		Judge: func(r *resolve.Resolution) []model.Problem {
			return requirement.FindProblems(r, requirements, in.engine.Deciders())
		},
		DiffSide: in.engine.comparisonSide,
		CompareBehavior: func(before, after *resolve.Resolution) (string, bool) {
			diff, err := behavior.Compare(in.engine.comparisonSide(before), in.engine.comparisonSide(after),
				behavior.Query{})
			if err != nil {
				return fmt.Sprintf("not known: %s", err), true
			}
			return diff.Headline(), diff.HasChanges()
		},
		HasBudget: more,
	})
}
