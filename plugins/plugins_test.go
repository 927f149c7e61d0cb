package plugins

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// Every descriptor can be read under every value of every setting that has a list of them: a
// command only reads those that it runs with.
func TestEveryValueOfEverySetting(t *testing.T) {
	c, err := plugin.NewCatalog(All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, s := range c.KnownSettings() {
		for _, value := range s.AllowedValues() {
			tried++
			if _, err := plugin.NewCatalog(All(), nil, []string{s.Name + "=" + value}); err != nil {
				t.Errorf("%s=%s: %v", s.Name, value, err)
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d values tried", tried)
	}
}

// Every vendor says which release it was last held against, and when.
func TestEveryVendorIsReviewed(t *testing.T) {
	c, err := plugin.NewCatalog(All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		if _, ok := c.ReviewOf(p.Name); !ok {
			t.Errorf("%s has no field \"reviewed\" in its Vendor document", p.Name)
		}
	}
}

func BenchmarkCatalog(b *testing.B) { // every command waits for it
	for b.Loop() {
		if _, err := plugin.NewCatalog(All(), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
