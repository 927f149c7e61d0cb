package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// checkDOT reads DOT as far as quoting goes: strings end on the line they begin on, braces balance outside them, and what is not quoted
// is plain.
func checkDOT(text string) error {
	depth := 0
	for n, line := range strings.Split(text, "\n") {
		quoted := false
		for i := 0; i < len(line); i++ {
			c := line[i]
			switch {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '{':
				depth++
			case c == '}':
				depth--
			case strings.IndexByte(" ->_.,;=[]", c) < 0 && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'):
				return fmt.Errorf("line %d: %q outside quotes: %s", n+1, c, line)
			}
		}
		if quoted {
			return fmt.Errorf("line %d: a string has no end: %s", n+1, line)
		}
	}
	if depth != 0 {
		return fmt.Errorf("%d braces are open", depth)
	}
	return nil
}

func TestDOTIsWellFormed(t *testing.T) {
	for _, g := range []*view.Topology{graph(), hostileGraph(), {}} {
		text := written(t, g, Options{Format: DOT})
		if err := checkDOT(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestDOTKeepsNodesApart(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a", "a b", "a%20b", `a"`, `a\`, `a\"`, "a%22", "ä", "%", ""} {
		quoted := dotID(id)
		if other, known := seen[quoted]; known {
			t.Errorf("%q and %q are both %s", id, other, quoted)
		}
		seen[quoted] = id
	}
}

func TestDOTDoesNotDependOnOrder(t *testing.T) {
	g, turned := graph(), graph()
	for i, j := 0, len(turned.Nodes)-1; i < j; i, j = i+1, j-1 {
		turned.Nodes[i], turned.Nodes[j] = turned.Nodes[j], turned.Nodes[i]
	}
	for i, j := 0, len(turned.Edges)-1; i < j; i, j = i+1, j-1 {
		turned.Edges[i], turned.Edges[j] = turned.Edges[j], turned.Edges[i]
	}
	if written(t, g, Options{Format: DOT}) != written(t, turned, Options{Format: DOT}) {
		t.Error("the order of nodes and edges shows")
	}
}
