package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// objectName is one way to read the name of an object on the command line:
// [NAMESPACE/]NAME[/SECTION]. A kind in front of it has been taken off.
type objectName struct{ namespace, name, section string }

// listReadings returns the ways to read the words between the slashes of a name, the one without a
// namespace first: cart/checkout is section checkout of cart, or checkout in namespace cart. It
// returns nil if one of the words is empty.
func listReadings(words []string) []objectName {
	if len(words) == 0 || slices.Contains(words, "") {
		return nil
	}
	out := []objectName{{name: words[0], section: strings.Join(words[1:], "/")}}
	if len(words) > 1 {
		out = append(out, objectName{words[0], words[1], strings.Join(words[2:], "/")})
	}
	return out
}

// isNameOf reports whether an object may be meant, whatever the section.
func (n objectName) isNameOf(ref model.Ref, flags *Flags) bool {
	return ref.Name == n.name && n.isInNamespace(ref.Namespace, flags)
}

// isInNamespace reports whether an object in a namespace may be meant: one in the namespace that
// the name has or, if it has none, that the flags select.
func (n objectName) isInNamespace(namespace string, flags *Flags) bool {
	if n.namespace != "" {
		return namespace == n.namespace
	}
	return flags.Namespace == "" || flags.AllNamespaces || namespace == "" || namespace == flags.Namespace
}
