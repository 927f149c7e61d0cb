package render

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// checkDOT reads DOT as strictly as any program does: strings end, braces and brackets balance
// outside them, what is not quoted is plain, and a label in angle brackets is XML of the elements
// that Graphviz knows, none of them empty text.
func checkDOT(text string) error {
	var open []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"':
			end := endOfString(text[i+1:])
			if end < 0 {
				return fmt.Errorf("a string has no end: %.200s", text[i:])
			}
			i += end + 1
		case c == '<':
			end := endOfMarkup(text[i+1:])
			if end < 0 {
				return fmt.Errorf("markup has no end: %.200s", text[i:])
			}
			if err := checkMarkup(text[i+1 : i+1+end]); err != nil {
				return fmt.Errorf("%v in %.2000s", err, text[i:i+2+end])
			}
			i += end + 1
		case c == '{' || c == '[':
			open = append(open, c+2)
		case c == '}' || c == ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return fmt.Errorf("%q closes nothing: %.200s", c, text[i:])
			}
			open = open[:len(open)-1]
		case strings.IndexByte(" ->_.,;=:\n", c) < 0 && (c < '0' || c > '9') && (c < 'a' || c > 'z') &&
			(c < 'A' || c > 'Z'):
			return fmt.Errorf("%q outside quotes: %.200s", c, text[i:])
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%q is missing", open)
	}
	return nil
}

// endOfString is where the closing quote is; -1 if there is none on the line.
func endOfString(s string) int {
	for i := 0; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// endOfMarkup is where the angle bracket is closed: Graphviz counts them, whatever stands between.
func endOfMarkup(s string) int {
	depth := 1
	for i := range len(s) {
		switch s[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// checkMarkup reads a label in markup.
func checkMarkup(s string) error {
	d := xml.NewDecoder(strings.NewReader("<label>" + s + "</label>"))
	d.Strict = true
	inner := map[int]int{} // by depth: what an element holds
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			inner[depth]++
			depth++
			inner[depth] = 0
			if !slices.Contains([]string{"label", "TABLE", "TR", "TD", "FONT", "B", "I", "S", "BR"}, t.Name.Local) {
				return fmt.Errorf("<%s> is no element of a label", t.Name.Local)
			}
			for _, a := range t.Attr {
				if !slices.Contains([]string{"BORDER", "CELLBORDER", "CELLSPACING", "CELLPADDING", "COLOR", "BGCOLOR",
					"STYLE", "SIDES", "ALIGN", "BALIGN", "VALIGN", "PORT", "COLSPAN",
					"ROWSPAN", "WIDTH", "HEIGHT", "FIXEDSIZE", "POINT-SIZE", "HREF", "TITLE", "ID"}, a.Name.Local) {
					return fmt.Errorf("%s is no attribute of a label", a.Name.Local)
				}
			}
		case xml.EndElement:
			if inner[depth] == 0 && !slices.Contains([]string{"TD", "BR"}, t.Name.Local) {
				return fmt.Errorf("<%s> is empty", t.Name.Local)
			}
			depth--
		case xml.CharData:
			inner[depth]++
		}
	}
}

func TestDOTIsWellFormed(t *testing.T) {
	for _, g := range []*graph.Topology{graphFixture(), hostileGraph(), {}} {
		text := written(t, g, Options{Format: DOT})
		if err := checkDOT(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestDOTKeepsNodesApart(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"a", "a b", "a%20b", `a"`, `a\`, `a\"`, "a%22", "ä", "%", ""} {
		quoted := picture.QuoteNodeID(id)
		if other, known := seen[quoted]; known {
			t.Errorf("%q and %q are both %s", id, other, quoted)
		}
		seen[quoted] = id
	}
}

func TestDOTDoesNotDependOnOrder(t *testing.T) {
	g, turned := graphFixture(), graphFixture()
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
