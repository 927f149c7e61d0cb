package viewer

import "testing"

func TestFileURL(t *testing.T) {
	for path, want := range map[string]string{"/tmp/a b#c?.svg": "file:///tmp/a%20b%23c%3F.svg",
		"C:/x/y.svg": "file:///C:/x/y.svg"} {
		if got := fileURL(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
