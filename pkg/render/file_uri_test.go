package render

import (
	"net/url"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestFileURI: a URI says which file it is, below the folder in which the program runs or
// absolutely, whatever is in its name.
func TestFileURI(t *testing.T) {
	for _, c := range []struct{ root, file, uri, base string }{
		{"/work", "apps/shop.yaml", "apps/shop.yaml", sourceRoot},
		{"/work", "./apps/../shop.yaml", "shop.yaml", sourceRoot},
		{"/work", "/work/apps/shop.yaml", "apps/shop.yaml", sourceRoot},
		{"/work", "/other/shop.yaml", "file:///other/shop.yaml", ""},
		{"/work/sub", "../a b.yaml", "file:///work/a%20b.yaml", ""},
		{"", "../shop.yaml", "../shop.yaml", sourceRoot},
		{"/work", "a b#c%d?.yaml", "a%20b%23c%25d%3F.yaml", sourceRoot},
		{"/work", "shop:1.yaml", "./shop:1.yaml", sourceRoot},
		{"/work", "..shop.yaml", "..shop.yaml", sourceRoot},
	} {
		o := Options{Root: c.root}
		uri, base := o.fileURI(o.relativeFile(&model.Origin{File: c.file, Line: 1}))
		if uri != c.uri || base != c.base {
			t.Errorf("%s in %s: %s of %q, want %s of %q", c.file, c.root, uri, base, c.uri, c.base)
		}
		if u, err := url.Parse(uri); err != nil || u.Scheme != "" && u.Scheme != "file" {
			t.Errorf("%s: %s is read as %#v, %v", c.file, uri, u, err)
		}
	}
}
