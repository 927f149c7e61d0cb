package topology

// readScope reads a field by which a Gateway offers itself as a default, or a route asks for
// default Gateways (gatewayapi G20).
func readScope(f *fieldReader, key string) bool {
	switch scope := f.readText(key); scope {
	case "All":
		return true
	case "", "None":
	default:
		at := f.at.atField(key)
		f.reader.reportInvalid(at, at.String()+" is "+scope+", which is none of All and None; it counts as None")
	}
	return false
}

// attachToDefaults attaches a route that asks for it to every default Gateway that takes it (gatewayapi G20). A Gateway that does not
// has no row: nobody named it. One that the route names as a whole is a parent like any other.
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
		w.attachToOwner(r, g.id, Attachment{Parent: ref, Listener: None, Implicit: true}, listenerAccess{known: true, open: true})
		kept := w.table[:rows]
		for _, a := range w.table[rows:] {
			if a.State == Accepted || a.State == Unknown {
				kept, r.gatewayBound = append(kept, a), true
			}
		}
		w.table = kept
	}
}
