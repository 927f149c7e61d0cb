package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/plugins/istio/authorization"
)

// unauthorizedStatus is what proxies answer to requests without a token that they require.
const unauthorizedStatus = 401

var authenticationKind = model.GroupKind{Group: securityGroup, Kind: "RequestAuthentication"}

// judgeTokens adds what JWT rules with presence REQUIRED say of a request: without its token it is
// denied before any rule of authorization is asked. Whether a token is valid is not known, nor whether a
// proxy before this one has removed it.
func judgeTokens(p *point.Point, d *evaluate.Decision, rules []authorization.TokenRule, a *request.Answer) {
	var policies []model.Ref
	for i := range rules {
		rule := &rules[i]
		if !rule.Required {
			continue
		}
		if ref := rule.Policy.Ref; !slices.Contains(policies, ref) && !slices.Contains(p.Policies, ref) {
			policies = append(policies, ref)
		}
		p.Tests = append(p.Tests, rule.Tests()...)
		by := []evaluate.Decider{{Policy: rule.Policy.Ref, Origin: rule.Policy.Origin,
			Rule: "jwtRules[" + rule.Issuer + "]", Action: "REQUIRED"}}
		reader := protect.RequestReader{}
		if a != nil {
			reader.Request = &a.Request
		}
		switch {
		case d.Outcome == request.Denied && d.Stage == tokenStage:
		case reader.Request != nil && reader.LacksCredential(rule.Places):
			d.Outcome, d.Stage, d.By, d.Why = request.Denied, tokenStage, by,
				[]string{"the request has no token, and one is required"}
			p.Status = unauthorizedStatus
		case d.Outcome == request.Allowed:
			d.Outcome, d.Stage, d.By, d.Why = request.NotEvaluated, tokenStage, by,
				[]string{"cannot tell whether its token is valid and arrives here"}
		}
	}
	if len(policies) > 0 {
		p.Policies, p.IgnoresRequests = slices.Concat(policies, p.Policies), false
	}
}

// tokenStage is the stage of a decision in which tokens are read.
const tokenStage = "JWT"

// findTokenRules lists the JWT rules in force at the workload.
func (j *workloadJudge) findTokenRules() []authorization.TokenRule {
	k := j.res.Kind(authenticationKind)
	if k == nil {
		return nil
	}
	if id := j.hop.To.Node; id != topology.None {
		return j.listTokenRules(id)
	}
	t := j.assumedTarget()
	var out []authorization.TokenRule
	for _, p := range j.listAttached(k, func(p *policy.Policy) bool {
		holds, _ := j.isAttached(p.Ref().Namespace, readPolicyTargets(p.Object), t)
		return holds
	}) {
		for _, rule := range p.Object.Body.At("spec", "jwtRules").Items {
			out = append(out, authorization.NewTokenRule(rule.Value(), p.Object))
		}
	}
	return out
}

// listTokenRules lists the JWT rules in force at a node.
func (j *hopJudge) listTokenRules(id topology.NodeID) []authorization.TokenRule {
	k := j.res.Kind(authenticationKind)
	if k == nil || id == topology.None || len(k.Contexts(id)) == 0 {
		return nil
	}
	return authorization.ListTokenRules(k.Verdict(k.Contexts(id)[0]))
}
