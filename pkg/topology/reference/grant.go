package reference

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// Grants holds the single permissions that the ReferenceGrants of the input add up to (gatewayapi
// G32).
type Grants map[grant]struct{}

// grant permits objects of kind from in one namespace to refer to an object of kind to in another,
// to any of them if name is "".
type grant struct {
	from          model.GroupKind
	fromNamespace string
	to            model.GroupKind
	toNamespace   string
	name          string
}

// Allow reports whether objects of kind from in namespace ns may refer to an object.
func (gs Grants) Allow(from model.GroupKind, ns string, to model.Ref) bool {
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

// GrantHint says which grant would permit a reference.
func GrantHint(from model.GroupKind, ns string, to model.Ref) string {
	return "add to namespace " + to.Namespace + " a ReferenceGrant from kind " + from.String() + ", namespace " + ns +
		", to kind " +
		to.GroupKind().String() + ", name " + to.Name
}

// ReadGrants reads the ReferenceGrants of an input. An entry with a field of the wrong type permits
// nothing.
func ReadGrants(in *model.Snapshot, r *manifest.Reader) Grants {
	grants := Grants{}
	for _, o := range in.OfKind(gatewayapi.GrantKind) {
		spec := r.ReadSpec(o)
		froms := readGrantEnds(&spec, "from")
		for _, to := range readGrantEnds(&spec, "to") {
			for _, from := range froms {
				grants[grant{from.kind, from.namespace, to.kind, o.Ref.Namespace, to.name}] = struct{}{}
			}
		}
	}
	return grants
}

// grantEnd is an entry of a grant's from or to.
type grantEnd struct {
	kind            model.GroupKind
	namespace, name string
}

func readGrantEnds(f *manifest.Fields, side string) []grantEnd {
	var out []grantEnd
	for i, v := range f.ReadList(side).Items {
		e := f.Reader.ReadEntry(v, f.At.AtField(side).AtEntry(i))
		end := grantEnd{kind: model.GroupKind{Group: e.ReadText("group"), Kind: e.ReadText("kind")}}
		if side == "from" {
			end.namespace = e.ReadText("namespace")
		} else {
			end.name = e.ReadText("name")
		}
		// a written "" names no object; only an absent name means all
		if !e.Bad && (end.name != "" || !e.HasField("name")) {
			out = append(out, end)
		}
	}
	return out
}
