package descriptor

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"go.yaml.in/yaml/v3"
)

// VersionBelow reports whether a version comes before another. A version that stops early means the last of those that begin so, and the other
// one the first: 1.17 is not below 1.17.10, nor 1.17.10 below 1.17. What is no version is below none.
func VersionBelow(version, other string) bool {
	a, b := versionNumbers(version), versionNumbers(other)
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c < 0
		}
	}
	return false
}

// versionNumbers are the numbers of a version, nil for what is none.
func versionNumbers(version string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

func isVersion(text string) bool { return versionNumbers(text) != nil }

// version reads the version that a setting has to be below.
func version(r *form.Reader, into *string) form.Field {
	return func(n *yaml.Node) {
		if *into = n.Value; n.Kind != yaml.ScalarNode || !isVersion(n.Value) {
			r.Fail(n, "%q is no version", n.Value)
		}
	}
}
