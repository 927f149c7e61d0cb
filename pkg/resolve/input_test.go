package resolve

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// input is what a resolution is made from.
type input struct {
	objects     []*model.Object
	descriptors string
	settings    []string
}

// add reads manifests.
func (in *input) add(t testing.TB, manifests ...string) {
	t.Helper()
	dec := yaml.NewDecoder(strings.NewReader(strings.Join(manifests, "\n---\n")))
	for {
		var body map[string]any
		if err := dec.Decode(&body); err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			return
		}
		if body != nil {
			values(body)
			in.objects = append(in.objects, object(body, len(in.objects)+1))
		}
	}
}

func object(body map[string]any, line int) *model.Object {
	group, version, found := strings.Cut(model.Text(body, "apiVersion"), "/")
	if !found {
		group, version = "", group
	}
	o := &model.Object{Version: version, Body: model.Pack(body, nil), Labels: map[string]string{},
		Origin: model.Origin{File: "in.yaml", Line: line},
		Ref: model.Ref{Group: group, Kind: model.Text(body, "kind"), Namespace: model.Text(body, "metadata",
			"namespace"), Name: model.Text(body, "metadata", "name")}}
	labels, _ := model.Get(body, "metadata", "labels").(map[string]any)
	for key := range labels {
		o.Labels[key] = model.Text(labels, key)
	}
	if created, ok := model.Get(body, "metadata", "creationTimestamp").(time.Time); ok {
		o.Created = created
		model.Get(body, "metadata").(map[string]any)["creationTimestamp"] = created.Format(time.RFC3339)
	}
	return o
}

// values turns what the YAML decoder makes of numbers into what objects hold.
func values(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = values(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = values(v[key])
		}
	}
	return v
}

func (in *input) run(t testing.TB) *Resolution {
	t.Helper()
	var users []form.Source
	if in.descriptors != "" {
		users = []form.Source{{Name: "kinds.yaml", Text: []byte(in.descriptors)}}
	}
	c, err := descriptor.NewCatalog(nil, users, in.settings, descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	return Run(s, build.Graph(s, c.Settings()), c)
}

// resolved resolves manifests without descriptors.
func resolved(t testing.TB, manifests ...string) *Resolution {
	t.Helper()
	var in input
	in.add(t, manifests...)
	return in.run(t)
}

// describedBy resolves manifests with Paint.x.io described by the given lines.
func describedBy(t testing.TB, lines string, manifests ...string) *Resolution {
	t.Helper()
	in := input{descriptors: "apiVersion: dopolicy.dev/v1alpha1\nkind: PolicyKind\nfor: Paint.x.io\n" + lines}
	in.add(t, manifests...)
	return in.run(t)
}

const gatewayGroup = "gateway.networking.k8s.io"

// gateway is gateway/infra/name of class c, open to all namespaces.
func gateway(name string, listeners ...string) string {
	s := "apiVersion: " + gatewayGroup + "/v1\nkind: Gateway\nmetadata: {name: " + name +
		", namespace: infra}\nspec:\n  gatewayClassName: c\n  listeners:\n"
	for i, l := range listeners {
		s += fmt.Sprintf("  - {name: %s, port: %d, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}\n", l,
			8000+i)
	}
	return s
}

// route is httproute/app/name below gateways of namespace infra, with a rule for each backend.
func route(name, gateways string, backends ...string) string {
	s := "apiVersion: " + gatewayGroup + "/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
		", namespace: app, labels: {route: " + name + "}}\nspec:\n  parentRefs:\n"
	for _, g := range strings.Fields(gateways) {
		g, section, _ := strings.Cut(g, "/")
		if section != "" {
			section = ", sectionName: " + section
		}
		s += "  - {name: " + g + ", namespace: infra" + section + "}\n"
	}
	s += "  rules:\n"
	for i, b := range backends {
		s += fmt.Sprintf("  - {name: r%d, backendRefs: [{name: %s, port: 80}]}\n", i+1, b)
	}
	return s
}

// service is service/app/name with port 80, called http.
func service(name string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: app, labels: {service: " + name +
		"}}\nspec: {ports: [{name: http, port: 80}]}\n"
}

var kindGroups = map[string]string{"Gateway": gatewayGroup, "GatewayClass": gatewayGroup, "HTTPRoute": gatewayGroup,
	"ListenerSet": gatewayGroup}

// ref is a target reference in flow style: Kind/name or Kind/name/section, a namespace before the
// kind and a colon.
func ref(target string) string {
	namespace, target, found := strings.Cut(target, ":")
	if !found {
		namespace, target = "", namespace
	}
	parts := strings.Split(target, "/")
	s := `{group: "` + kindGroups[parts[0]] + `", kind: ` + parts[0] + ", name: " + parts[1]
	if len(parts) > 2 {
		s += ", sectionName: " + parts[2]
	}
	if namespace != "" {
		s += ", namespace: " + namespace
	}
	return s + "}"
}

// paint is Paint namespace/name with a target and settings, in flow style.
func paint(full, target, settings string) string {
	namespace, name, _ := strings.Cut(full, "/")
	name, created, timed := strings.Cut(name, "@")
	if timed {
		created = ", creationTimestamp: 2026-01-0" + created + "T00:00:00Z"
	}
	if settings != "" {
		settings = ", " + settings
	}
	var refs []string
	for _, r := range strings.Fields(target) {
		refs = append(refs, ref(r))
	}
	return "apiVersion: x.io/v1\nkind: Paint\nmetadata: {name: " + name + ", namespace: " + namespace + created +
		"}\nspec: {targetRefs: [" + strings.Join(refs, ", ") + "]" + settings + "}\n"
}

func (r *Resolution) paints() *Kind { return r.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"}) }

// node is the node of namespace:Kind/name/section.
func (r *Resolution) node(t testing.TB, target string) topology.NodeID {
	t.Helper()
	namespace, target, _ := strings.Cut(target, ":")
	parts := append(strings.Split(target, "/"), "")
	ids := r.Graph.Lookup(model.Ref{Group: kindGroups[parts[0]], Kind: parts[0], Namespace: namespace, Name: parts[1],
		Section: parts[2]})
	if len(ids) != 1 {
		t.Fatalf("%s has nodes %v", target, ids)
	}
	return ids[0]
}

func (r *Resolution) name(id topology.NodeID) string {
	n := r.Node(id)
	if n.Ref.Section != "" {
		return n.Ref.Section
	}
	return n.Ref.Name
}

// contexts writes the stacks of a node, one a line: the policies, least specific first, and the
// paths.
func (r *Resolution) contexts(t testing.TB, target string) string {
	t.Helper()
	k, id := r.paints(), r.node(t, target)
	var out []string
	for _, s := range k.Contexts(id) {
		var policies, paths []string
		for _, l := range k.Verdict(s).Layers {
			name := l.Policy.Ref().Name
			if l.Rejected {
				name = "(" + name + ")"
			}
			policies = append(policies, name)
		}
		for _, path := range k.Paths(id, s) {
			var names []string
			for _, n := range path {
				names = append(names, r.name(n))
			}
			paths = append(paths, strings.Join(names, ">"))
		}
		out = append(out, strings.Join(policies, " ")+": "+strings.Join(paths, " "))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// results writes the rules in force at a node by stack, with the policies they come from, and what
// was lost.
func (r *Resolution) results(t testing.TB, target string) string {
	t.Helper()
	k := r.paints()
	var out []string
	for _, s := range k.Contexts(r.node(t, target)) {
		o := k.Verdict(s)
		var line []string
		for _, rule := range o.Result.Rules {
			line = append(line, fmt.Sprintf("%s=%v(%s)", rule.Name, rule.Value, o.names(rule.From)))
		}
		for _, l := range o.Losses() {
			line = append(line, fmt.Sprintf("-%s(%s) %s>%s", l.Rule, o.names([]merge.Source{l.From}), l.Reason,
				o.names(l.WinningSources())))
		}
		slices.Sort(line[len(o.Result.Rules):])
		out = append(out, strings.Join(line, " "))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func (o *Verdict) names(from []merge.Source) string {
	var out []string
	for _, f := range from {
		out = append(out, o.Layers[f.Layer].Policy.Ref().Name)
	}
	return strings.Join(out, ",")
}

// codes lists the problems of a resolution and of every outcome in force, sorted, as "Code name".
func (r *Resolution) codes() []string {
	problems := slices.Clone(r.Problems)
	for _, k := range r.Kinds {
		if len(k.Table) > 0 {
			k.EachStackInForce(func(s StackID) { problems = append(problems, k.Verdict(s).Problems...) })
		}
	}
	var out []string
	for _, p := range model.SortProblems(problems) {
		// what is guessed: see guess_test.go
		if p.Ref != nil && p.Ref.Kind == "Paint" && p.Code != model.GenericKind && p.Hint != policy.DescribeHint {
			out = append(out, string(p.Code)+" "+p.Ref.Name)
		}
	}
	slices.Sort(out)
	return out
}

// shuffled resolves the input in another order.
func (in *input) shuffled(t testing.TB, r *rand.Rand) *Resolution {
	t.Helper()
	r.Shuffle(len(in.objects), func(i, j int) { in.objects[i], in.objects[j] = in.objects[j], in.objects[i] })
	return in.run(t)
}
