package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestNoVendorInAnyFile is noVendor for the tests and test data under pkg as well: the engine is
// tested without vendors.
func TestNoVendorInAnyFile(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../../pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".test" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if name := vendor.Find(text); name != nil {
			t.Errorf("%s names the vendor %s", path, name)
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files read: %v", files, err)
	}
}
