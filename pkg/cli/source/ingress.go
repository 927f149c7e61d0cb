package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// CutIngresses takes the arguments that name Ingresses of a class that is read out of the others:
// ingress/[NAMESPACE/]NAME, or ingress NAME….
func (s *Session) CutIngresses(args []string) (ingresses []model.Ref, others []string) {
	words := []string{"ingress", "ingresses", "ing"}
	texts := args
	if len(args) > 1 && slices.Contains(words, strings.ToLower(args[0])) {
		texts = PrefixWords(args[0]+"/", args[1:])
	}
	known := s.listIngresses()
	for _, text := range texts {
		kind, name, _ := strings.Cut(text, "/")
		at := slices.IndexFunc(known, func(ref model.Ref) bool {
			return ref.FullName() == name || ref.Name == name && s.IsInNamespace(ref)
		})
		if at < 0 || !slices.Contains(words, strings.ToLower(kind)) {
			others = append(others, text)
			continue
		}
		ingresses = append(ingresses, known[at])
	}
	return ingresses, others
}

// HasGateways reports whether the input has a Gateway.
func (s *Session) HasGateways() bool {
	return len(s.Snapshot.OfKind(model.GroupKind{Group: GatewayGroup, Kind: "Gateway"})) > 0
}

// IngressesInNamespace returns the Ingresses of classes that are read, in the namespace that is asked
// about; never nil.
func (s *Session) IngressesInNamespace() []model.Ref {
	return slices.DeleteFunc(s.listIngresses(), func(ref model.Ref) bool { return !s.IsInNamespace(ref) })
}

// listIngresses returns the Ingresses whose paths are in force somewhere, each once; never nil.
func (s *Session) listIngresses() []model.Ref {
	out := []model.Ref{}
	for _, p := range s.Proxies() {
		for i := range p.Locations {
			if ref := p.Locations[i].Ingress; ref != (model.Ref{}) {
				out = append(out, ref)
			}
		}
	}
	slices.SortFunc(out, model.Ref.Compare)
	return slices.Compact(out)
}
