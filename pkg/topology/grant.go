package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// grants are the single permissions that the ReferenceGrants of the input add up to (gatewayapi G32).
type grants map[grant]struct{}

// grant permits objects of kind from in one namespace to refer to an object of kind to in another, to any of them if name is "".
type grant struct {
	from          model.GroupKind
	fromNamespace string
	to            model.GroupKind
	toNamespace   string
	name          string
}

func (gs grants) allow(from model.GroupKind, ns string, to model.Ref) bool {
	if ns == to.Namespace {
		return true
	}
	want := grant{from: from, fromNamespace: ns, to: to.GroupKind(), toNamespace: to.Namespace}
	if _, ok := gs[want]; ok {
		return true
	}
	want.name = to.Name
	_, ok := gs[want]
	return ok
}

// grantHint says which grant would permit a reference.
func grantHint(from model.GroupKind, ns string, to model.Ref) string {
	return "add to namespace " + to.Namespace + " a ReferenceGrant from kind " + from.String() + ", namespace " + ns + ", to kind " +
		to.GroupKind().String() + ", name " + to.Name
}

// readGrants reads the ReferenceGrants. An entry with a field of the wrong type permits nothing.
func (b *builder) readGrants() {
	for _, o := range b.in.Of(grantKind) {
		spec := b.spec(o)
		froms := b.grantEnds(&spec, "from")
		for _, to := range b.grantEnds(&spec, "to") {
			for _, from := range froms {
				b.grants[grant{from.kind, from.namespace, to.kind, o.Ref.Namespace, to.name}] = struct{}{}
			}
		}
	}
}

// grantEnd is an entry of a grant's from or to.
type grantEnd struct {
	kind            model.GroupKind
	namespace, name string
}

func (b *builder) grantEnds(spec *fields, side string) []grantEnd {
	var out []grantEnd
	for i, v := range spec.list(side).Items {
		f := b.entry(v, spec.at.field(side).entry(i))
		end := grantEnd{kind: model.GroupKind{Group: f.text("group"), Kind: f.text("kind")}}
		if side == "from" {
			end.namespace = f.text("namespace")
		} else {
			end.name = f.text("name")
		}
		if !f.bad && (end.name != "" || !f.has("name")) { // a written "" names no object; only an absent name means all
			out = append(out, end)
		}
	}
	return out
}
