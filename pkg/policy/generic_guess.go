package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Guess is how a kind without a descriptor is read, and what of that may be wrong (engine E15).
type Guess struct {
	How     string // in half a line
	Defined bool   // GEP-713 says what several of its policies on one path are to each other
	Doubt   string // why the whole reading may be wrong; "": nothing says so
	Bound   bool   // its API does not take a policy without a target reference
}

// Doubt is something in a policy that is not understood without a descriptor.
type Doubt struct {
	Field string // from the object's root
	model.Problem
}

// Describe is what to do about a kind that is only guessed at.
const Describe = "describe the kind with --policy-kinds"

// Everyone is the reference that stands for all policies of the kind.
func (k *Kind) Everyone() *model.Ref {
	return &model.Ref{Group: k.GroupKind.Group, Kind: k.GroupKind.Kind, Name: "*"}
}

// how is the reading in half a line.
func (g *generic) how() string {
	switch k := g.kind; {
	case k.Direct:
		return "direct, one policy per target"
	case k.Content.Blocks[merge.Defaults][1] == "default":
		return "inherited, spec.default and spec.override field by field"
	default:
		return "inherited, " + k.Strategy.Default.Strategy.Word() + " defaults unless its objects say otherwise"
	}
}

// mark says that the kind is only guessed at.
func (g *generic) mark() model.Problem {
	k := g.kind
	return model.Problem{Severity: model.Info, Code: model.GenericKind, Ref: k.Everyone(),
		Message: fmt.Sprintf("%s has no descriptor, it was recognised by %s; it is read as GEP-713 says: %s", k.Name(), k.From, k.Guess.How),
		Hint:    "describe the kind with --policy-kinds if its controller does otherwise"}
}

// blocks reports whether policies of the kind write their settings in the blocks of GEP-713, and none has something else of that name.
func (g *generic) blocks() bool {
	found := false
	for _, o := range g.objects {
		for _, name := range []string{"defaults", "overrides"} {
			if v := o.Body.At("spec", name); !isBlock(v) {
				return false
			} else if v.IsObject() {
				found = true
			}
		}
	}
	return found
}

// isBlock reports whether a value may be a block. A list or a scalar is a setting that happens to have the name of one.
func isBlock(v model.Body) bool { return v.IsNull() || v.IsObject() }

// disbelief says why the label Direct is not to be believed, "" if it may be: a direct kind has one kind of target, and no two of its
// policies stand above each other (gep713 P3).
func (g *generic) disbelief(targets []TargetForm) string {
	var kinds []string
	add := func(kind string) {
		if kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, t := range targets {
		add(t.GroupKind.String())
	}
	for _, ref := range [][]string{{"targetRef"}, {"targetRefs", "items"}, {"targetSelectors", "items"}} {
		path := append(append([]string{"properties"}, ref...), "properties", "kind", "enum")
		allowed, _ := model.Get(g.crd.spec, path...).([]any)
		for _, kind := range allowed {
			if name := fmt.Sprint(kind); !slices.ContainsFunc(kinds, func(k string) bool { return model.ParseGroupKind(k).Kind == name }) {
				add(name)
			}
		}
	}
	slices.Sort(kinds)
	switch {
	case len(kinds) > 1:
		return "its policies target " + strings.Join(kinds, " and ")
	case len(kinds) == 1 && kinds[0] == "Namespace":
		return "its policies target Namespaces, of which several are above one route"
	case g.sections():
		return "its policies target sections of objects"
	}
	return ""
}

// sections reports whether a reference names a section of an object.
func (g *generic) sections() bool {
	for _, o := range g.objects {
		for _, field := range referenceFields() {
			for _, entry := range asList(o.Get("spec", field)) {
				if model.Text(entry, "sectionName") != "" {
					return true
				}
			}
		}
	}
	return false
}

// bound reports whether the API of the kind demands a reference to a target.
func (g *generic) bound() bool {
	return slices.ContainsFunc(asList(model.Get(g.crd.spec, "required")), func(field any) bool {
		name, _ := field.(string)
		return slices.Contains(referenceFields(), name)
	})
}

// guesses notes what of a policy without a descriptor is not understood, and could change an answer: fields that other kinds merge by, and
// what may be a reference to targets.
func (d *decoder) guesses() {
	if !d.kind.Generic() {
		return
	}
	for _, at := range d.mergeFields() {
		d.policy.Doubts = append(d.policy.Doubts, d.doubt(at, "other kinds merge by such a field; what it means"))
	}
	for key, value := range d.body.Fields {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
			d.strays([]string{key}, value)
		}
	}
	slices.Sort(d.policy.Astray)
	switch fields := strings.Join(d.policy.Astray, ", "); {
	case fields != "" && len(d.policy.Refs) == 0:
		d.astray("%s: what the policy targets is not known without a descriptor of %s", fields)
	case fields != "":
		d.astray("%s: what else the policy targets is not known without a descriptor of %s", fields)
	case len(d.policy.Refs) == 0:
		d.aimless()
		if !d.kind.Guess.Bound {
			d.astray("%s has no target reference: whether such a policy holds anywhere is not known without a descriptor of %s", strings.Join(d.kind.Content.At, "."))
		}
	}
}

// astray reports that it is not known where the policy holds. That counts in its namespace, and everywhere if it may hold in others.
func (d *decoder) astray(format, fields string) {
	p := d.problem(model.NotEvaluated, d.kind.Content.At, format, fields, d.kind.Name())
	p.Hint = Describe
	if d.abroad {
		p.Ref, p.Message = d.kind.Everyone(), p.Ref.String()+": "+p.Message
	}
}

func (d *decoder) doubt(at []string, what string) Doubt {
	field := fieldPath(at)
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: Describe,
		Message: fmt.Sprintf("%s: %s is not known without a descriptor of %s", field, what, d.kind.Name())}.At(d.policy.Object)
	origin := d.policy.Object.OriginOf(at...)
	p.Origin = &origin
	return Doubt{field, p}
}
