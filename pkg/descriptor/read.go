package descriptor

import (
	"slices"

	"go.yaml.in/yaml/v3"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// reader is what the readers of the parts of a PolicyKind document share: where mistakes are kept,
// the kind that they fill, and what functions there are.
type reader struct {
	*form.Reader
	kind  *policy.Kind
	funcs *Functions

	document *yaml.Node // the PolicyKind document; nil: not asked for
}

// kindReader reads one PolicyKind document into a Kind.
type kindReader struct {
	reader
	direct, bottomUp bool
	same             policy.SameTarget
}

// usualKind is a kind as GEP-713 has it.
func usualKind() *policy.Kind {
	k := &policy.Kind{}
	k.Refs = []policy.RefForm{{At: []string{"spec", "targetRef"}}, {At: []string{"spec", "targetRefs"}},
		{At: []string{"spec", "targetSelectors"}, Selector: true}}
	k.Namespaces, k.SameTarget = policy.OwnNamespace, policy.Stacked
	k.Family, k.ListenerSets = topology.Traffic, policy.AttachedSets
	k.Content = policy.Content{At: []string{"spec"}, Blocks: map[merge.BlockKind][]string{
		merge.Defaults: {"spec", "defaults"}, merge.Overrides: {"spec", "overrides"}}}
	k.Rules, k.RuleWord = entriesShape(), "entries"
	k.Strategy = policy.StrategyRule{Read: []policy.StrategyPlace{{InBlock: true, Path: []string{"strategy"}},
		{Path: []string{"strategy"}}}, Values: map[string]policy.StrategyChoice{
		"atomic": {}, "merge": {Strategy: merge.Strategy{Cut: merge.Rules}}, "patch": {Strategy: merge.Strategy{
			Cut: merge.Leaves}}}}
	k.Compare = []policy.Key{{By: policy.ByLevel}, {By: policy.ByCreated}, {By: policy.ByNamespacedName}} // gep713 P17
	k.InError = policy.DropPolicy
	k.Status = policy.StatusWords{Type: policy.UsualInForce, All: string(gatewayv1.GatewayReasonProgrammed),
		Some: "PartiallyProgrammed", None: "Overridden"}
	return k
}

// readKind fills the kind from a PolicyKind document; mistakes are collected.
func (r *kindReader) readKind(n *yaml.Node) {
	k := r.kind
	var name string
	none := func(*yaml.Node) {}
	fields := map[string]form.Field{
		"apiVersion": none, "kind": none, "extends": none, "variants": none, // read by the catalogue before
		"for": r.Text(&name), "plural": r.Text(&k.Plural), "short": r.readShortNames, "cluster": r.Flag(
			&k.ClusterScoped), "doc": r.Text(&k.Doc), "virtual": r.Flag(&k.Virtual), "publishable": r.Flag(
			&k.Publishable), "inferred": r.Text(&k.Inferred),
		"portNumbers": r.Flag(&k.PortNumbers), "ruleOrder": r.Text(&k.RuleOrder),
		"class": eitherField(r.Reader, &r.direct, "inherited", "direct"), "fold": eitherField(r.Reader, &r.bottomUp,
			"checked", "bottomUp"),
		"sameTarget": wordField(r.Reader, &r.same, []policy.SameTarget{policy.Stacked, policy.Oldest, policy.First,
			policy.Conflict, policy.Fill, policy.Disjoint, policy.AllLose, policy.Unstated}),
		"rejects": eitherField(r.Reader, &k.RejectsWhole, "target", "policy"),
		"reads":   r.kindsField(&k.Reads, false), "members": r.kindsField(&k.Members, true),
		"evaluate": r.remoteFuncField(&k.Evaluate, r.funcs.Evaluators, "to judge requests"),
		"atPoints": r.Flag(&k.AtPoints),
		"compare":  func(n *yaml.Node) { k.Compare = orderReader{r.reader}.readKeys(n) },
		"status":   statusReader{r.reader}.readStatus,
	}
	parts := []map[string]form.Field{fields, attachmentReader{r.reader}.fieldReaders(),
		reachReader{r.reader}.fieldReaders(), (&foldReader{reader: r.reader}).fieldReaders(),
		specReader{r.reader}.fieldReaders(), validityReader{r.reader}.fieldReaders()}
	r.Object(n, parts...)
	k.GroupKind = model.ParseGroupKind(name)
	if k.GroupKind.Kind == "" || k.GroupKind.Group == "" {
		r.Fail(n, "field \"for\" must be Kind.group")
		return
	}
	if k.InError == policy.HoldPlace && slices.ContainsFunc(k.Plans, func(p merge.Plan) bool { return p.Func == nil }) {
		r.Fail(n, "a kind with plans cannot let policies in error claim their place yet, unless functions resolve it")
	}
	r.fillImplied(n)
	if k.RejectsWhole && (k.SameTarget != policy.Conflict && k.SameTarget != policy.Disjoint || k.Direct) {
		r.Fail(n, "rejects: policy goes with sameTarget: conflict or disjoint")
	}
}

// fillImplied fills in what follows from other fields.
func (r *kindReader) fillImplied(n *yaml.Node) {
	k := r.kind
	if k.Plural == "" {
		k.Plural = PluralOf(k.GroupKind.Kind)
	}
	k.ChecksDirection = !r.bottomUp
	if r.direct {
		makeDirect(k)
	}
	if r.same != "" {
		k.SameTarget = r.same
	}
	if k.Effective == nil {
		k.Effective = effectiveRoles(k.Targets)
	}
	trimScopes(k)
	if k.Routes == nil {
		k.Routes = targetRoutes(k.Targets)
	}
	if k.Plans == nil {
		k.Plans = []merge.Plan{{}}
	}
	if slices.ContainsFunc(k.Rules, func(p merge.Pattern) bool { return p.Numbers }) &&
		!slices.ContainsFunc(k.Plans, func(p merge.Plan) bool { return p.Func != nil }) {
		r.Fail(n, "entries with numbers take a plan with a function")
	}
	setSameTarget(k.Plans, foldSameTarget(k))
	for i := range k.Plans {
		setKeepsEmpty(&k.Plans[i], k.Content.KeepsEmpty)
		k.Plans[i].Ordered = k.Result.IsOrdered()
	}
}

func (r *kindReader) readShortNames(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		r.kind.ShortNames = []string{""}
		r.Text(&r.kind.ShortNames[0])(n)
		return
	}
	r.Texts(&r.kind.ShortNames)(n)
}

// makeDirect gives k strategy none: no blocks, one winner per target (gep713 P3, P19).
func makeDirect(k *policy.Kind) {
	none, _ := parseChoice("none")
	k.Direct, k.SameTarget = true, policy.Conflict
	k.Strategy = policy.StrategyRule{Default: none}
	k.Content.Blocks, k.Content.Unset, k.Content.Condition = nil, nil, ""
}

// foldSameTarget returns the part of the same-target model that the fold itself does. Policies that
// stand beside each other can be merged one by one, if they are merged.
func foldSameTarget(k *policy.Kind) merge.SameTarget {
	merged := len(k.Strategy.Read) == 0 && k.Strategy.Default.Strategy.Cut != merge.Whole
	if k.SameTarget == policy.Fill || k.SameTarget == policy.Oldest || k.SameTarget == policy.Disjoint && !merged {
		return merge.Fill
	}
	return merge.Stacked
}

// setKeepsEmpty lets policies hold their place in a plan, and in the plans that it is made of,
// unless it is for some rules only.
func setKeepsEmpty(p *merge.Plan, claims bool) {
	if p.KeepsEmptyLayers = claims && p.Only == nil; p.KeepsEmptyLayers {
		for i := range p.Members {
			setKeepsEmpty(&p.Members[i], true)
		}
	}
}

func setSameTarget(plans []merge.Plan, m merge.SameTarget) {
	for i := range plans {
		if !plans[i].OwnTarget {
			plans[i].SameTarget = m
		}
		setSameTarget(plans[i].Members, m)
	}
}
