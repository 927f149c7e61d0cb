package kgateway

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const discoverySetting = "kgateway.discoveryNamespaceSelectors"

// nameLabel is the label that the API server gives every Namespace.
const nameLabel = "kubernetes.io/metadata.name"

// readDiscoverySelectors reads the selectors of the namespaces that the controller sees: those that
// one of them selects. Without any it sees all.
func readDiscoverySelectors(in *model.Snapshot, s model.Settings) (func(string) bool, []model.Problem) {
	raw := s.Text(discoverySetting)
	wrong := func(err error) (func(string) bool, []model.Problem) {
		return nil, []model.Problem{{Severity: model.Error, Code: model.NotEvaluated,
			Message: fmt.Sprintf("setting %s cannot be read: %s", discoverySetting, err)}}
	}
	var all []metav1.LabelSelector
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		return wrong(err)
	}
	if len(all) == 0 {
		return nil, nil
	}
	var selectors []labels.Selector
	for i := range all {
		selector, err := metav1.LabelSelectorAsSelector(&all[i])
		if err != nil {
			return wrong(err)
		}
		selectors = append(selectors, selector)
	}
	known := map[string]bool{}
	sees := func(namespace string) bool {
		if seen, ok := known[namespace]; ok {
			return seen
		}
		set := labels.Set{nameLabel: namespace}
		if ns := in.Get(model.Ref{Kind: "Namespace", Name: namespace}); ns != nil {
			for key, value := range ns.Labels {
				set[key] = value
			}
		}
		for _, selector := range selectors {
			known[namespace] = known[namespace] || selector.Matches(set)
		}
		return known[namespace]
	}
	return sees, unlabelledProblems(in, selectors)
}

// unlabelledProblems reports the namespaces whose labels are not known where selectors ask for
// others than the name.
func unlabelledProblems(in *model.Snapshot, selectors []labels.Selector) []model.Problem {
	asks := false
	for _, selector := range selectors {
		requirements, _ := selector.Requirements()
		for _, r := range requirements {
			asks = asks || r.Key() != nameLabel
		}
	}
	var out []model.Problem
	last := ""
	for _, o := range in.Objects {
		ns := o.Ref.Namespace
		if !asks || ns == "" || ns == last {
			continue
		}
		last = ns
		ref := model.Ref{Kind: "Namespace", Name: ns}
		if in.Get(ref) == nil {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Ref: &ref,
				Message: fmt.Sprintf("the labels of namespace %s are not known: %s is judged by its name alone", ns,
					discoverySetting), Hint: "add its manifest"})
		}
	}
	return out
}
