package main

import (
	"maps"

	"github.com/kuadrant/policy-machinery/machinery"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gwapiv1alpha2 "sigs.k8s.io/gateway-api/apis/v1alpha2"
)

const policyKind = "AuthPolicy"

// authPolicy is a Defaults & Overrides policy as policy-machinery expects them: the library finds paths, and a policy type brings
// its merge strategies with it. It has one block: defaults, overrides or, without either, its bare rules.
type authPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec authPolicySpec `json:"spec"`

	merged ruleSet // of the result of a merge; nil before
}

type authPolicySpec struct {
	TargetRef gwapiv1alpha2.LocalPolicyTargetReferenceWithSectionName `json:"targetRef"`

	Defaults  *block `json:"defaults,omitempty"`
	Overrides *block `json:"overrides,omitempty"`
	block     `json:",inline"`
}

type block struct {
	Strategy string `json:"strategy,omitempty"`
	Rules    struct {
		Authentication map[string]any `json:"authentication,omitempty"`
		Authorization  map[string]any `json:"authorization,omitempty"`
	} `json:"rules"`
}

// rule is a setting with the policy that set it.
type rule struct {
	value  any
	source string
}

type ruleSet map[string]rule

var _ machinery.Policy = &authPolicy{}

func (p *authPolicy) GetLocator() string { return machinery.LocatorFromObject(p) }

func (p *authPolicy) GetTargetRefs() []machinery.PolicyTargetReference {
	return []machinery.PolicyTargetReference{machinery.LocalPolicyTargetReferenceWithSectionName{
		LocalPolicyTargetReferenceWithSectionName: p.Spec.TargetRef,
		PolicyNamespace: p.Namespace,
	}}
}

// GetMergeStrategy is how the policy is merged with what is in force below it.
func (p *authPolicy) GetMergeStrategy() machinery.MergeStrategy {
	switch s := &p.Spec; {
	case s.Overrides != nil && s.Overrides.Strategy == "merge":
		return mergeOverrides
	case s.Overrides != nil:
		return atomicOverrides
	case s.Defaults != nil && s.Defaults.Strategy == "merge":
		return mergeDefaults
	}
	return atomicDefaults
}

// Merge is the policy with a less specific one merged into it, by that one's strategy.
func (p *authPolicy) Merge(higher machinery.Policy) machinery.Policy {
	return higher.GetMergeStrategy()(higher, p)
}

func atomicDefaults(source, target machinery.Policy) machinery.Policy {
	if len(rulesOf(target)) > 0 {
		return target
	}
	return source
}

func atomicOverrides(source, _ machinery.Policy) machinery.Policy { return source }

func mergeDefaults(source, target machinery.Policy) machinery.Policy {
	return united(rulesOf(source), rulesOf(target))
}

func mergeOverrides(source, target machinery.Policy) machinery.Policy {
	return united(rulesOf(target), rulesOf(source))
}

// united is a policy with the rules of both sets; of those with one name, the stronger.
func united(weaker, stronger ruleSet) *authPolicy {
	rules := maps.Clone(weaker)
	maps.Copy(rules, stronger)
	return &authPolicy{merged: rules}
}

// rulesOf lists the rules of a policy by name, each with its source.
func rulesOf(policy machinery.Policy) ruleSet {
	p := policy.(*authPolicy)
	if p.merged != nil {
		return p.merged
	}
	own := &p.Spec.block
	switch {
	case p.Spec.Defaults != nil:
		own = p.Spec.Defaults
	case p.Spec.Overrides != nil:
		own = p.Spec.Overrides
	}
	rules := ruleSet{}
	source := p.Namespace + "/" + p.Name
	for name, value := range own.Rules.Authentication {
		rules["rules.authentication."+name] = rule{value, source}
	}
	for name, value := range own.Rules.Authorization {
		rules["rules.authorization."+name] = rule{value, source}
	}
	return rules
}
