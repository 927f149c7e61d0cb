package localfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// write makes files in a new folder, which becomes the current one; "-> target" is a link.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if len(text) > 3 && text[:3] == "-> " {
			err = os.Symlink(text[3:], name)
		} else {
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			t.Skip(err)
		}
	}
}

func TestResolveRelative(t *testing.T) {
	write(t, map[string]string{"repo/.git/HEAD": "", "repo/policies/r.yaml": "r", "repo/ci/config.yaml": "",
		"repo/ci/out.yaml": "-> ../../other/o.yaml", "repo/ci/in.yaml": "-> ../policies/r.yaml", "other/o.yaml": "o",
		"plain/tests/t.yaml": ""})
	inside := filepath.Join(t.TempDir(), "x.yaml")
	for _, c := range []struct {
		file, name string
		ok         bool
	}{
		{"repo/ci/config.yaml", "../policies/r.yaml", true}, {"repo/ci/config.yaml", "in.yaml", true},
		{"repo/ci/config.yaml", "gone.yaml", true}, {"repo/ci/config.yaml", "out.yaml", false},
		{"repo/ci/config.yaml", "../../other/o.yaml", false}, {"repo/ci/config.yaml", "/etc/passwd", false},
		// without a working tree, the current folder counts
		{"plain/tests/t.yaml", "../../other/o.yaml", true}, {"plain/tests/t.yaml", inside, false}, {"", "other/o.yaml", true},
		{"", "../x.yaml", false},
		{inside, "y.yaml", true}, {inside, "../y.yaml", false},
	} {
		path, err := ResolveRelative(c.file, c.name)
		if (err == nil) != c.ok {
			t.Errorf("%s names %s: %s, %v", c.file, c.name, path, err)
		}
	}
}

func TestReadFound(t *testing.T) {
	write(t, map[string]string{"repo/.git/HEAD": "", "repo/a.yaml": "a", "repo/in.yaml": "-> a.yaml",
		"repo/out.yaml": "-> ../other.yaml", "repo/zero.yaml": "-> /dev/zero", "other.yaml": "o"})
	for name, ok := range map[string]bool{"repo/a.yaml": true, "repo/in.yaml": true, "repo/out.yaml": false,
		"repo/zero.yaml": false} {
		if text, err := Read(name, false); (err == nil) != ok {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if text, err := Read("repo/out.yaml", true); err != nil || string(text) != "o" {
		t.Errorf("by hand: %q, %v", text, err)
	}
}

func TestExpandLinks(t *testing.T) {
	write(t, map[string]string{"days/a.yaml": "a", "days/b.yaml": "-> a.yaml"})
	if found, err := Expand("days"); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
	for _, target := range []string{"../other.yaml", "/dev/zero"} {
		write(t, map[string]string{"days/a.yaml": "a", "days/x.yaml": "-> " + target, "other.yaml": "o"})
		if found, err := Expand("days"); err == nil {
			t.Errorf("%s: %v", target, found)
		}
	}
}

func TestOpenFolder(t *testing.T) {
	write(t, map[string]string{"s/g/a.json": "a", "s/g/in.json": "-> a.json", "s/g/out.json": "-> ../../x.json",
		"s/g/zero.json": "-> /dev/zero", "x.json": "x"})
	files, err := OpenFolder("s")
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"g/a.json": true, "g/in.json": true, "g/out.json": false, "g/zero.json": false,
		"g": false} {
		if text, err := fs.ReadFile(files, name); (err == nil) != ok {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
