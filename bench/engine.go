package main

import (
	"context"
	_ "embed" // kinds.yaml
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// mergeKinds describes the policies of the comparison without the validation rules of their API.
//
//go:embed kinds.yaml
var mergeKinds []byte

// runEngine answers `effective -A` as the program does, part by part.
func runEngine(manifests, answer string) ([]part, error) { return runParts(nil, manifests, answer) }

// runMerge is runEngine without what policy-machinery leaves to the API server: whether a policy is valid.
func runMerge(manifests, answer string) ([]part, error) {
	return runParts([]form.Source{{Name: "kinds.yaml", Text: mergeKinds}}, manifests, answer)
}

func runParts(kinds []form.Source, manifests, answer string) ([]part, error) {
	catalog, err := plugin.NewCatalog(plugins.All(), kinds, nil)
	if err != nil {
		return nil, err
	}
	watch := newStopwatch()
	in, err := load.Files(context.Background(), load.Options{Paths: []string{manifests}})
	if err != nil {
		return nil, err
	}
	watch.lap("decode")
	watch.collect()
	policies := resolve.StartDecoding(in, catalog)
	graph := build.Graph(in, catalog.Settings(), catalog.Links()...)
	watch.lap("topology")
	resolution := policies.Attach(graph)
	watch.lap("attach")
	for _, kind := range resolution.Kinds {
		if len(kind.Policies) > 0 {
			kind.FoldAll()
		}
	}
	watch.lap("fold")
	found := effectivePolicies(resolution)
	watch.lap("paths")
	list := effective.List(resolution, view.Query{})
	watch.lap("view")
	if answer == "" {
		return watch.parts, nil
	}
	if err := sameNumber(found, list); err != nil {
		return nil, err
	}
	return watch.parts, writeAnswer(answer, list)
}

// foundPolicy is the effective policy of one path.
type foundPolicy struct {
	path    resolve.Path
	outcome *resolve.Verdict
}

// effectivePolicies lists the effective policy of every path to every effective target, as the peer does.
func effectivePolicies(r *resolve.Resolution) []foundPolicy {
	out := make([]foundPolicy, 0, r.Graph.Len())
	for _, kind := range r.Kinds {
		if len(kind.Policies) == 0 {
			continue
		}
		for i := range r.Graph.Len() {
			id := topology.NodeID(i)
			if !kind.HasResultsAt(r.Node(id).Role) {
				continue
			}
			for _, stack := range kind.Contexts(id) {
				outcome := kind.Verdict(stack)
				for _, path := range kind.Paths(id, stack) {
					out = append(out, foundPolicy{path, outcome})
				}
			}
		}
	}
	return out
}

// sameNumber holds the paths that were counted against those of the answer.
func sameNumber(found []foundPolicy, list *effective.EffectivePolicyList) error {
	shown := 0
	for i := range list.Items {
		shown += len(list.Items[i].Paths)
	}
	if shown != len(found) {
		return fmt.Errorf("%d effective policies were computed, the answer has %d", len(found), shown)
	}
	return nil
}

// writeAnswer writes one line for each path, sorted.
func writeAnswer(name string, list *effective.EffectivePolicyList) error {
	var lines []string
	for i := range list.Items {
		item := &list.Items[i]
		settings, err := settings(item)
		if err != nil {
			return err
		}
		for _, path := range item.Paths {
			lines = append(lines, fmt.Sprintf("%s %s %s %s\t%s\n", path.Gateway, path.Listener, item.Target.FullName(), item.Target.Section, settings))
		}
	}
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600)
}

// settings lists the settings in force with their sources and values, by name.
func settings(item *view.EffectivePolicy) (string, error) {
	var out []string
	for _, rule := range item.Rules {
		value, err := json.Marshal(rule.Value)
		if err != nil {
			return "", err
		}
		if len(rule.Sources) != 1 || rule.Sources[0].Policy == nil {
			return "", fmt.Errorf("%s of %s has not one policy as its source", rule.Name, item.Target)
		}
		out = append(out, fmt.Sprintf("%s=%s:%s", rule.Name, rule.Sources[0].Policy.FullName(), value))
	}
	slices.Sort(out)
	return strings.Join(out, "\t"), nil
}
