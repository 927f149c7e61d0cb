package model

// Presence is what the input says about whether an object exists.
type Presence int

// The presences. NotShown is an object that the input does not have and that nothing makes which was
// not read. As manifests need not be all that there is, what refers to it decides whether that means
// that it is missing: the target of a policy is, a Gateway in another namespace is not.
const (
	Present  Presence = iota // it is in the input, or something in the input makes it
	Missing                  // it does not exist: the cluster, or the user, says that the input is all there is
	NotKnown                 // the object itself, or what may make it, was not read
	NotShown
)

// Existence is the presence of an object with its reason.
type Existence struct {
	Presence
	Why string // what makes it, why it is missing, or what was not read: a clause that names the object
}

// IsAbsent reports whether nothing is known that may make the object.
func (e Existence) IsAbsent() bool { return e.Presence == Missing || e.Presence == NotShown }

// FindExistence says whether an object exists, as far as the input tells. It is the only place that
// decides it. The section is ignored. A reference without a name stands for any object of the kind in
// its namespace.
func (s *Snapshot) FindExistence(ref Ref) Existence {
	ref = ref.WithoutSection()
	switch {
	case s.Get(ref) != nil:
		return Existence{Presence: Present}
	case s.IsRefused(ref):
		return Existence{Missing, "the API server refuses " + ref.String()}
	case s.IsAmbiguous(ref):
		return Existence{NotKnown, ref.String() + " is defined more than once, each time differently"}
	}
	if by, made := s.FindMaker(ref); made && ref.Name != "" {
		return Existence{Present, by.String() + " makes " + ref.String()}
	}
	gk := ref.GroupKind()
	switch {
	case s.Cluster.IsUnreadRef(ref):
		return Existence{NotKnown, ref.String() + " is forbidden"}
	case s.Cluster != nil && isKeptBack(gk):
		return Existence{NotKnown, ref.String() + " is not in the input"}
	case s.Exhaustive, s.Cluster != nil:
		return Existence{Missing, ref.String() + " does not exist"}
	case ref.HasVariable():
		return Existence{NotKnown, "an unrendered variable: what " + ref.String() + " would be is not known"}
	}
	if ref.Name == "" {
		if by, made := s.findMakerOfKind(gk, ref.Namespace); made {
			return Existence{NotKnown, by.String() + " makes one"}
		}
	}
	if o := s.FindOmission(gk, ref.Namespace); o != nil {
		return Existence{NotKnown, ref.String() + " is not in the input, and " + o.String()}
	}
	shown := s.shown()
	switch {
	case isBackend(gk) && shown.showsBackends(ref.Namespace):
		return Existence{Missing, ref.String() + " does not exist"}
	case isKeptBack(gk) && (shown.severalFiles || !shown.namespaces[ref.Namespace] && !shown.kept[gk][ref.Namespace]):
		return Existence{NotKnown, ref.String() + " is not in the input, and manifests seldom have all " +
			ref.Kind + "s"}
	}
	return Existence{NotShown, ref.String() + " is not in the input"}
}

// isKeptBack reports whether objects of a kind are seldom in manifests, and not read from a cluster.
func isKeptBack(gk GroupKind) bool {
	return gk.Group == "" && (gk.Kind == "Secret" || gk.Kind == "ConfigMap" || gk.Kind == "Pod")
}

// isBackend reports whether people write the objects of a kind for rules to send to.
func isBackend(gk GroupKind) bool {
	return gk == GroupKind{Kind: "Service"} || gk == GroupKind{Group: "gateway.networking.x-k8s.io", Kind: "XBackend"}
}

// shownNamespaces is what manifests show of namespaces.
type shownNamespaces struct {
	severalFiles bool                          // they are a folder rather than one file that says all
	services     bool                          // there is one
	namespaces   map[string]bool               // those of which the Namespace or a Service is in the input
	kept         map[GroupKind]map[string]bool // those with an object of a kind that is mostly kept back
}

func (s *Snapshot) findShownNamespaces() *shownNamespaces {
	services := s.OfKind(GroupKind{Kind: "Service"})
	out := &shownNamespaces{services: len(services) > 0, namespaces: map[string]bool{},
		kept: map[GroupKind]map[string]bool{}}
	for _, o := range services {
		out.namespaces[o.Ref.Namespace] = true
	}
	for _, o := range s.OfKind(GroupKind{Kind: "Namespace"}) {
		out.namespaces[o.Ref.Name] = true
	}
	for _, kind := range []string{"Secret", "ConfigMap", "Pod"} {
		gk := GroupKind{Kind: kind}
		out.kept[gk] = map[string]bool{}
		for _, o := range s.OfKind(gk) {
			out.kept[gk][o.Ref.Namespace] = true
		}
	}
	for _, o := range s.Objects {
		if o.Origin.File != s.Objects[0].Origin.File {
			out.severalFiles = true
			break
		}
	}
	return out
}

// showsBackends reports whether manifests show which backends a namespace has (gatewayapi G36). A
// folder without any Service does not show that there are none: they are made elsewhere, from a
// chart or by a controller.
func (n *shownNamespaces) showsBackends(namespace string) bool {
	return n.namespaces[namespace] && (n.services || !n.severalFiles)
}
