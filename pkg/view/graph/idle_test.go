package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// lamps is a policy kind with conditions.
const lamps = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Lamp.x.io
targets: [Gateway, HTTPRoute, HTTPRoute/rule]
content: {condition: when}
fold: bottomUp
`

// A block whose condition is false is not overridden: nobody overrides it.
func TestGraphConditionFalse(t *testing.T) {
	lamp := func(name, target, block, spec string) string {
		kind, of, _ := strings.Cut(target, "/")
		return fmt.Sprintf(
			`{apiVersion: x.io/v1, kind: Lamp, metadata: {name: %s, namespace: a}, spec: {targetRef: {group: %s, kind: %s, name: %s}, %s: %s}}`, name, viewtest.GatewayGroup, kind, of, block, spec)
	}
	docs := []string{viewtest.GatewayDoc("a", "gw"), viewtest.RouteDoc("a", "web", 2, "a/gw"),
		viewtest.ServiceDoc("a", "web"),
		lamp("never", "Gateway/gw", "overrides", "{strategy: merge, when: '1 > 2', bright: 1}"),
		lamp("own", "HTTPRoute/web", "defaults", "{bright: 2}"),
		lamp("both", "Gateway/gw", "defaults: {strategy: merge, dim: 3}, overrides",
			"{strategy: merge, when: '1 > 2', bright: 1}"),
		lamp("beaten", "Gateway/gw", "defaults: {strategy: merge, bright: 3}, overrides",
			"{strategy: merge, when: '1 > 2', bright: 1}"),
	}
	in, err := load.Files(t.Context(), load.Options{Paths: []string{"-"},
		Stdin: strings.NewReader(strings.Join(docs, "\n---\n"))})
	if err != nil {
		t.Fatal(err)
	}
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(lamps)}}, nil,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	g := Build(resolve.Run(in, build.Graph(in, c.Settings()), c), Query{})
	for policy, want := range map[string][]string{
		"never":  {"conditionFalse/", "targets/conditionFalse"},
		"own":    {"effective/", "targets/effective"},
		"both":   {"effective/partial", "targets/partial"},
		"beaten": {"overridden/", "targets/overridden"},
	} {
		for _, drawn := range []*Topology{g, g.Collapse(CollapseRules, nil), g.Collapse(CollapseRoute, nil)} {
			var got []string
			for _, e := range drawn.Edges {
				if strings.HasSuffix(e.From, "Lamp.x.io/a/"+policy) {
					got = append(got, e.Kind+"/"+e.State)
				}
			}
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%s, collapsed %q: %v, want %v", policy, drawn.Collapsed, got, want)
			}
		}
	}
	if all := fmt.Sprint(g.Collapse(CollapseNamespace, nil).Nodes); !strings.Contains(all, "policies:1 effective") {
		t.Error(all)
	}
}
