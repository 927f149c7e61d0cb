package topology

// readScope reads a field by which a Gateway offers itself as a default, or a route asks for default Gateways (gatewayapi G20).
func (b *builder) readScope(spec *fields, key string) bool {
	switch scope := spec.text(key); scope {
	case "All":
		return true
	case "", "None":
	default:
		at := spec.at.field(key)
		b.invalid(at, at.String()+" is "+scope+", which is none of All and None; it counts as None")
	}
	return false
}

// attachToDefaults attaches a route that asks for it to every default Gateway that takes it (gatewayapi G20). A Gateway that does not
// has no row: nobody named it. One that the route names as a whole is a parent like any other.
func (b *builder) attachToDefaults(r *route) {
	if !b.readScope(&r.spec, "useDefaultGateways") {
		return
	}
	b.asking[r.id] = struct{}{}
	for i := range b.gateways {
		g := &b.gateways[i]
		if !g.defaults {
			continue
		}
		ref := b.nodes[g.id].Ref
		if _, named := b.parents[parentRef{ref: ref}]; named {
			continue
		}
		rows := len(b.table)
		b.attachToOwner(r, g.id, Attachment{Parent: ref, Listener: None, Implicit: true}, passage{sure: true, open: true})
		kept := b.table[:rows]
		for _, a := range b.table[rows:] {
			if a.State == Accepted || a.State == Unknown {
				kept = append(kept, a)
			}
			r.gatewayBound = r.gatewayBound || a.State == Accepted
		}
		b.table = kept
	}
}
