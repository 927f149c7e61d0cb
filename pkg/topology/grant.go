package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// grantSet holds the single permissions that the ReferenceGrants of the input add up to (gatewayapi
// G32).
type grantSet map[grant]struct{}

// grant permits objects of kind from in one namespace to refer to an object of kind to in another, to any of them if name is "".
type grant struct {
	from          model.GroupKind
	fromNamespace string
	to            model.GroupKind
	toNamespace   string
	name          string
}

// isAllowed reports whether objects of kind from in namespace ns may refer to an object.
func (gs grantSet) isAllowed(from model.GroupKind, ns string, to model.Ref) bool {
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

// readGrants reads the ReferenceGrants of an input. An entry with a field of the wrong type permits
// nothing.
func readGrants(in *model.Snapshot, r *manifestReader) grantSet {
	grants := grantSet{}
	for _, o := range in.OfKind(grantKind) {
		spec := r.readSpec(o)
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

func readGrantEnds(f *fieldReader, side string) []grantEnd {
	var out []grantEnd
	for i, v := range f.readList(side).Items {
		e := f.reader.readEntry(v, f.at.atField(side).atEntry(i))
		end := grantEnd{kind: model.GroupKind{Group: e.readText("group"), Kind: e.readText("kind")}}
		if side == "from" {
			end.namespace = e.readText("namespace")
		} else {
			end.name = e.readText("name")
		}
		if !e.bad && (end.name != "" || !e.hasField("name")) { // a written "" names no object; only an absent name means all
			out = append(out, end)
		}
	}
	return out
}
