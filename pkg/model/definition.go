package model

// DefinitionKind is the kind of the objects that define kinds.
func DefinitionKind() GroupKind {
	return GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}
}

// Definitions lists the CustomResourceDefinitions, sorted by name.
func (s *Snapshot) Definitions() []*Object { return s.OfKind(DefinitionKind()) }

// DefinedKind is the kind that o, a CustomResourceDefinition, defines; not ok: o is none.
func (o *Object) DefinedKind() (gk GroupKind, ok bool) {
	if o.Ref.GroupKind() != DefinitionKind() {
		return GroupKind{}, false
	}
	return GroupKind{Group: o.Text("spec", "group"), Kind: o.Text("spec", "names", "kind")}, true
}
