package render

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite the golden files")

// golden compares got with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it); got\n%s", path, got)
	}
}

func TestGolden(t *testing.T) {
	for name, v := range map[string]View{
		"effective": effectiveFixture(), "explain": explanation(), "reach": reachFixture(),
		"overridden": overriddenFixture(), "kinds": kindList(), "graph": graphFixture(),
	} {
		for _, format := range supportedFormats(v) {
			if format == string(SVG) || format == string(PNG) {
				continue // TestPicture
			}
			t.Run(name+"/"+format, func(t *testing.T) {
				var out bytes.Buffer
				o := Options{Format: Format(format), Table: view.TableOptions{Source: "-f demo"}}
				if err := Write(&out, v, o); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+format, out.Bytes())
			})
		}
	}
}

func TestGoldenVariants(t *testing.T) {
	for name, tc := range map[string]struct {
		v View
		o Options
	}{
		"effective.color":      {effectiveFixture(), Options{Color: true}},
		"reach.color":          {reachFixture(), Options{Color: true}},
		"tree.color":           {effectiveFixture(), Options{Format: Tree, Color: true}},
		"tree.ascii":           {effectiveFixture(), Options{Format: Tree, ASCII: true}},
		"tree.wide":            {effectiveFixture(), Options{Format: Tree, Table: view.TableOptions{Wide: true}}},
		"effective.ascii":      {effectiveFixture(), Options{ASCII: true}},
		"effective.no-headers": {effectiveFixture(), Options{NoHeaders: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Write(&out, tc.v, tc.o); err != nil {
				t.Fatal(err)
			}
			golden(t, name, out.Bytes())
		})
	}
}
