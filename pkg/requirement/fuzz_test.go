package requirement

import (
	"errors"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
)

// FuzzRequirements: whatever a file of requirements or of their tests holds, mistakes have their
// place and nothing panics.
func FuzzRequirements(f *testing.F) {
	const head = "apiVersion: dopolicy.dev/v1alpha1\nkind: "
	for _, seed := range []string{"",
		head +
			"Requirements\nrequirements:\n- name: a\n  targets: [HTTPRoute/rule]\n  expression: \"policies.exists(p, p.kind == 'A')\"\n  message: m\n",
		head +
			"RequirementTest\nrequirements: [a.yaml]\ntests:\n- {name: x, files: [b.yaml], expect: {notMet: [a]}}\n",
		"a: &a [*a]\n", "- - -", "? [a]\n: b\n", head + "Requirements\nrequirements: {}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := form.Source{Name: "r.yaml", Text: []byte(text)}
		_, err := Read([]form.Source{file})
		_, errTests := ReadTests(file, len(text)%2 == 0)
		for _, err := range []error{err, errTests} {
			var wrong *FileError
			if err != nil && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), "r.yaml")) {
				t.Errorf("%T: %v", err, err)
			}
		}
	})
}
