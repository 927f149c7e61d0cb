package descriptor

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestVersionBelow(t *testing.T) {
	for _, c := range []struct {
		version, other string
		want           bool
	}{
		{"1.17.9", "1.17.10", true}, {"1.17.10", "1.17.10", false}, {"1.17", "1.17.10", false}, {"1.16", "1.17.10",
			true}, {"1.18", "1.17.10", false},
		{"v1.9", "1.10", true}, {"1", "1.10", false}, {"1.17.0", "1.17", false}, {"1.19.2", "1.19", false}, {"2",
			"1.17", false}, {"new", "1", false}, {"0.9", "1", true},
	} {
		if got := IsVersionBelow(c.version, c.other); got != c.want {
			t.Errorf("%s below %s: %v", c.version, c.other, got)
		}
	}
}

func TestVariantsBelowAVersion(t *testing.T) { // the narrowest stands first
	text := vendorDoc + "settings: [{name: release, type: version, default: '2.1', doc: d}]\n---\n" +
		paint.Kind("plural: new", "variants:", "- {when: {setting: release, below: 1.5}, set: {plural: oldest}}",
			"- {when: {setting: release, below: '2'}, set: {plural: old}}")
	for release, want := range map[string]string{"2.1": "new", "2.0.1": "new", "1.9": "old", "1.5": "old",
		"1.4.9": "oldest"} {
		c, err := described(text, "v.release="+release)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Kind(model.GroupKind{Group: "x.io", Kind: "Paint"}).Plural; got != want {
			t.Errorf("%s: %s, want %s", release, got, want)
		}
	}
	if _, err := described(text, "v.release=newest"); err == nil {
		t.Error("any text is taken for a version")
	}
}
