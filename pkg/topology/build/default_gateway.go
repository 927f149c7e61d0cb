package build

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
)

// readScope reads a field by which a Gateway offers itself as a default, or a route asks for
// default Gateways (gatewayapi G20).
func readScope(f *manifest.Fields, key string) bool {
	switch scope := f.ReadText(key); scope {
	case "All":
		return true
	case "", "None":
	default:
		at := f.At.AtField(key)
		f.Reader.ReportInvalid(at, at.String()+" is "+scope+", which is none of All and None; it counts as None")
	}
	return false
}

// attachToDefaults attaches a route that asks for it to every default Gateway that takes it
// (gatewayapi G20). A Gateway that does not has no row: nobody named it. One that the route names
// as a whole is a parent like any other.
func (w *routeAttacher) attachToDefaults(r *routeDraft) {
	if !readScope(&r.spec, "useDefaultGateways") {
		return
	}
	w.wantDefaults[r.id] = struct{}{}
	for i := range w.specs {
		g := &w.specs[i]
		if !g.isDefault {
			continue
		}
		ref := w.nodes.Node(g.id).Ref
		if w.parents.Has(parentRef{ref: ref}) {
			continue
		}
		rows := len(w.table)
		w.attachToOwner(r, g.id, topology.Attachment{Parent: ref, Listener: topology.None, Implicit: true},
			listenerAccess{known: true, open: true})
		kept := w.table[:rows]
		for _, a := range w.table[rows:] {
			if a.State == topology.Accepted || a.State == topology.Unknown {
				kept, r.gatewayBound = append(kept, a), true
			}
		}
		w.table = kept
	}
}
