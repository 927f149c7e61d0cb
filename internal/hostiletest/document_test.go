//go:build linux

package hostiletest

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocument: SECURITY.md has a line for each attack, and none more. With UPDATE_GOLDEN it is
// written.
func TestDocument(t *testing.T) {
	const file, mark = "../../SECURITY.md", "<!-- attacks -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, got, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatalf("%s has no %s", file, mark)
	}
	want := "| attack | exit code | it says |\n|---|---|---|\n"
	for _, a := range append(listFileAttacks(), listFolderAttacks()...) {
		want += fmt.Sprintf("| %s | %d | %s |\n", a.name, a.exit, a.want)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(head+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf(
			"%s does not have the attacks as they are: run UPDATE_GOLDEN=1 go test -run TestDocument ./internal/hostiletest", file)
	}
}
