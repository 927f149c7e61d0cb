package policy

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// kindReader reads one PolicyKind document into a Kind.
type kindReader struct {
	*reader
	kind  *Kind
	funcs Functions
	class string
	fold  string
	same  string
	plans []merge.Plan
	facts Facts // of the plan being read
}

func newKind() *Kind {
	read := []Place{{Block: true, Path: []string{"strategy"}}, {Path: []string{"strategy"}}}
	return &Kind{
		Refs:       []RefForm{{At: []string{"spec", "targetRef"}}, {At: []string{"spec", "targetRefs"}}, {At: []string{"spec", "targetSelectors"}, Selector: true}},
		Namespaces: OwnNamespace, Family: topology.Traffic, Compare: usualOrder(), SameTarget: Stacked,
		Content: Content{At: []string{"spec"}, Blocks: map[merge.BlockKind][]string{
			merge.Defaults: {"spec", "defaults"}, merge.Overrides: {"spec", "overrides"}}},
		Rules: EntriesShape(), Cutting: "entries",
		Status: StatusWords{Type: UsualInForce, All: "Programmed", Some: "PartiallyProgrammed", None: "Overridden"},
		Strategy: StrategyRule{Read: read, Values: map[string]Choice{
			"atomic": {}, "merge": {Strategy: merge.Strategy{Cut: merge.Rules}}, "patch": {Strategy: merge.Strategy{Cut: merge.Leaves}}}},
	}
}

// read fills the kind from a PolicyKind document; mistakes are collected in the reader.
func (r *kindReader) read(n *yaml.Node) {
	k := r.kind
	var name, rejects string
	invalid, sets := string(Drop), string(SetsTaken)
	none := func(*yaml.Node) {}
	r.object(n, map[string]field{
		"apiVersion": none, "kind": none, "extends": none, "variants": none, // read by the catalogue before
		"for": r.text(&name), "plural": r.text(&k.Plural), "short": r.short, "cluster": r.flag(&k.Cluster),
		"class": r.word(&r.class, []string{"inherited", "direct"}), "targets": r.targets, "refs": r.refs,
		"namespaces": r.namespaces, "content": r.content, "rules": r.rules, "strategy": r.strategy, "compare": r.compare,
		"fold":       r.word(&r.fold, []string{"checked", "bottomUp"}),
		"sameTarget": r.word(&r.same, []string{"stack", "oldest", "first", "conflict", "fill", "disjoint"}, "union"),
		"rejects":    r.word(&rejects, []string{"target", "policy"}), "family": r.family,
		"effective": r.effective, "routes": r.routes, "resolve": r.resolve, "result": r.word(&k.Result, resultWords()),
		"listenerSets": r.word(&sets, []string{string(SetsTaken), string(SetsNamed), string(SetsUnknown)}),
		"invalid":      r.word(&invalid, []string{string(Drop), string(Claim), string(Poison)}),
		"parts":        r.parts, "scopes": r.scopes, "labels": r.labels, "members": r.members, "builtins": r.builtins, "defaults": r.defaults, "normalize": r.normalize, "admission": r.admission, "advice": r.advice, "tolerant": r.flag(&k.Tolerant), "paths": r.paths,
		"checks": r.checks, "voids": r.voids, "discovers": r.discovers, "lints": r.lints, "reads": r.reads, "status": r.status, "evaluate": r.evaluate, "notEvaluated": r.notEvaluated, "doc": r.text(&k.Doc),
	})
	k.GroupKind = model.ParseGroupKind(name)
	if k.GroupKind.Kind == "" || k.GroupKind.Group == "" {
		r.fail(n, "field \"for\" must be Kind.group")
		return
	}
	k.ListenerSets = ListenerSets(sets)
	k.RejectsWhole = rejects == "policy"
	k.InError = InError(invalid)
	if k.InError == Claim && slices.ContainsFunc(r.plans, func(p merge.Plan) bool { return p.Func == nil }) {
		r.fail(n, "a kind with plans cannot let policies in error claim their place yet, unless functions resolve it")
	}
	r.finish(n)
	if k.RejectsWhole && (k.SameTarget != Conflict && k.SameTarget != Disjoint || k.Direct) {
		r.fail(n, "rejects: policy goes with sameTarget: conflict or disjoint")
	}
}

// finish fills in what follows from other fields.
func (r *kindReader) finish(n *yaml.Node) {
	k := r.kind
	if k.Plural == "" {
		k.Plural = Plural(k.GroupKind.Kind)
	}
	k.Checked = r.fold != "bottomUp"
	if r.same != "" {
		k.SameTarget = SameTarget(r.same)
	}
	if r.class == "direct" {
		k.makeDirect()
		if r.same != "" {
			k.SameTarget = SameTarget(r.same)
		}
	}
	if k.Effective == nil {
		k.Effective = effectiveRoles(k.Targets)
	}
	k.settleScopes()
	if k.Routes == nil {
		k.Routes = targetRoutes(k.Targets)
	}
	k.Plans = r.plans
	if k.Plans == nil {
		k.Plans = []merge.Plan{{}}
	}
	if slices.ContainsFunc(k.Rules, func(p merge.Pattern) bool { return p.Numbers }) && !slices.ContainsFunc(k.Plans, func(p merge.Plan) bool { return p.Func != nil }) {
		r.fail(n, "entries with numbers take a plan with a function")
	}
	setSameTarget(k.Plans, k.foldTarget())
	for i := range k.Plans {
		setClaims(&k.Plans[i], k.Content.Claims)
		k.Plans[i].Ordered = ordered(k.Result)
	}
}

// setClaims lets policies hold their place in a plan, and in the plans that it is made of, unless it is for some rules only.
func setClaims(p *merge.Plan, claims bool) {
	if p.Claims = claims && p.Only == nil; p.Claims {
		for i := range p.Of {
			setClaims(&p.Of[i], true)
		}
	}
}

func setSameTarget(plans []merge.Plan, m merge.SameTarget) {
	for i := range plans {
		if !plans[i].OwnTarget {
			plans[i].SameTarget = m
		}
		setSameTarget(plans[i].Of, m)
	}
}

// foldTarget is the part of the same-target model that the fold itself does. Policies that stand beside each other can be merged one by one, if
// they are merged.
func (k *Kind) foldTarget() merge.SameTarget {
	merged := len(k.Strategy.Read) == 0 && k.Strategy.Default.Strategy.Cut != merge.Whole
	if k.SameTarget == Fill || k.SameTarget == Oldest || k.SameTarget == Disjoint && !merged {
		return merge.Fill
	}
	return merge.Stacked
}

// makeDirect gives k strategy none: no blocks, one winner per target (gep713 P3, P19).
func (k *Kind) makeDirect() {
	none, _ := parseChoice("none")
	k.Direct, k.SameTarget = true, Conflict
	k.Strategy = StrategyRule{Default: none}
	k.Content.Blocks, k.Content.Unset, k.Content.Condition = nil, nil, ""
}

func (r *kindReader) short(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		var s string
		r.text(&s)(n)
		r.kind.Short = []string{s}
		return
	}
	r.texts(&r.kind.Short)(n)
}

func (r *kindReader) targets(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var s string
		r.text(&s)(e)
		name, section, _ := strings.Cut(s, "/")
		t := TargetForm{GroupKind: model.ParseGroupKind(name), Section: topology.Role(section)}
		if t.GroupKind.Group == "" {
			t.GroupKind.Group = defaultGroup(t.GroupKind.Kind)
		}
		if want := sectionRole(t.GroupKind); section != "" && topology.Role(section) != want {
			r.fail(e, "%s has no section %q", t.GroupKind.Kind, section)
		}
		r.kind.Targets = append(r.kind.Targets, t)
	})
}

func (r *kindReader) refs(n *yaml.Node) {
	r.kind.Refs = nil
	r.list(n, func(e *yaml.Node) {
		var f RefForm
		form, missing, empty, unlabelled, namespaces, rules, listeners := "ref", "report", "all", "may", "own", "any", "own"
		var on []string
		r.object(e, map[string]field{"at": r.path(&f.At), "form": r.word(&form, []string{"ref", "selector", "filter", "subject"}, "labels", "whole"),
			"unless": r.path(&f.Unless), "missing": r.word(&missing, []string{"report", "silent"}), "leg": nil, "func": r.attacher(&f), "on": r.texts(&on),
			"empty": r.word(&empty, []string{"all", "none"}), "unlabelled": r.word(&unlabelled, []string{"may", "never"}),
			"namespaces": r.word(&namespaces, []string{"own", "field"}), "everywhereFrom": r.text(&f.Everywhere), "rules": r.word(&rules, []string{"any", "named"}),
			"listeners": r.word(&listeners, []string{"own", "sets"}), "role": nil, "root": nil})
		if form == "filter" {
			r.kind.Filters = r.filters(e, on, f)
			return
		}
		if f.At == nil && !f.ByVendor() {
			r.fail(e, "field \"at\" is missing")
		}
		if form == "subject" && f.At != nil {
			f.Attach = subjectAt(f.At)
		}
		f.Selector, f.Silent, f.Named, f.InSets = form == "selector", missing == "silent", rules == "named", listeners == "sets"
		f.EmptyNone, f.NeverUnlabelled, f.NamespacesField = empty == "none", unlabelled == "never", namespaces == "field"
		r.kind.Refs = append(r.kind.Refs, f)
	})
}

// attacher reads the function that finds targets.
func (r *kindReader) attacher(f *RefForm) field {
	return func(n *yaml.Node) {
		var name string
		r.text(&name)(n)
		if f.Attach, f.Search = r.funcs.Attach[name], r.funcs.Search[name]; !f.ByVendor() {
			r.fail(n, "there is no function %q to find targets", name)
		}
	}
}

func (r *kindReader) namespaces(n *yaml.Node) {
	var s string
	r.word(&s, []string{"own", "grant", "any"})(n)
	r.kind.Namespaces = Namespaces(s)
}

func (r *kindReader) content(n *yaml.Node) {
	c := &r.kind.Content
	r.object(n, map[string]field{"at": r.path(&c.At), "fields": r.texts(&c.Fields), "condition": r.text(&c.Condition),
		"unset": r.texts(&c.Unset), "claims": r.flag(&c.Claims), "designs": r.flag(&c.Designs), "oneSet": r.flag(&c.OneSet), "nulls": r.nulls,
		"zero": func(n *yaml.Node) {
			var zero string
			r.word(&zero, []string{string(ZeroSet), string(ZeroUnset), string(ZeroTail)})(n)
			c.Zero = ZeroValues(zero)
		},
		"blocks": func(n *yaml.Node) {
			var defaults, overrides []string
			r.object(n, map[string]field{"defaults": r.path(&defaults), "overrides": r.path(&overrides)})
			c.Blocks = map[merge.BlockKind][]string{}
			if defaults != nil {
				c.Blocks[merge.Defaults] = defaults
			}
			if overrides != nil {
				c.Blocks[merge.Overrides] = overrides
			}
		}})
}

// family reads the ways on which policies hold: a family of the core, or one that a vendor's linkers make, which has a dot in its name.
func (r *kindReader) family(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, ".") {
		r.text(&r.kind.Family)(n)
		return
	}
	r.word(&r.kind.Family, []string{topology.Traffic, topology.Mesh, topology.All, topology.Namespaced})(n)
}

func (r *kindReader) effective(n *yaml.Node) {
	var words []string
	r.roles(&words)(n)
	for _, s := range words {
		if s == string(topology.Namespace) {
			r.fail(n, "a namespace is no effective target")
		}
		r.kind.Effective = append(r.kind.Effective, topology.Role(s))
	}
}

// routes reads the kinds of routes at whose rules there are results.
func (r *kindReader) routes(n *yaml.Node) {
	r.list(n, func(e *yaml.Node) {
		var name string
		r.text(&name)(e)
		at := slices.IndexFunc(topology.RouteKinds(), func(gk model.GroupKind) bool { return gk.Kind == name })
		if at < 0 {
			r.fail(e, "%s is no kind of routes", name)
			return
		}
		r.kind.Routes = append(r.kind.Routes, topology.RouteKinds()[at])
	})
	slices.SortFunc(r.kind.Routes, model.GroupKind.Compare)
}

// roles reads a list of roles of the families of traffic.
func (r *kindReader) roles(into *[]string) field {
	var known []string
	for _, role := range []topology.Role{topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route, topology.Rule, topology.Backend,
		topology.Port, topology.Frontend, topology.Namespace, topology.Workload, topology.Cluster, FilterLevel, SectionLevel} {
		known = append(known, string(role))
	}
	return func(n *yaml.Node) {
		*into = []string{}
		r.list(n, func(e *yaml.Node) {
			var s string
			r.word(&s, known, "mesh")(e)
			*into = append(*into, s)
		})
	}
}
