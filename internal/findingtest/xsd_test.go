package findingtest

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// node is an element of an XML document.
type node struct {
	name     string
	attrs    map[string]string
	children []*node
	text     string
}

func (n *node) all(name string) []*node {
	var out []*node
	for _, c := range n.children {
		if c.name == name {
			out = append(out, c)
		}
	}
	return out
}

func parseXML(t *testing.T, text []byte) *node {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	root := &node{}
	stack := []*node{root}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return root.children[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		top := stack[len(stack)-1]
		switch e := token.(type) {
		case xml.StartElement:
			n := &node{name: e.Name.Local, attrs: map[string]string{}}
			for _, a := range e.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			top.children = append(top.children, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(e)
		}
	}
}

// xsd validates against the part of XML Schema that the schema of JUnit uses: global elements of
// string or complex type, sequences of references with occurrences, mixed content, attributes of
// string type. Anything else in a schema fails the test, so that it cannot pass by being
// overlooked.
type xsd struct {
	t        *testing.T
	elements map[string]*node
}

func newXSD(t *testing.T, file string) *xsd {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	x := &xsd{t, map[string]*node{}}
	for _, e := range parseXML(t, text).children {
		if e.name != "element" {
			t.Fatalf("the schema has a global %s", e.name)
		}
		x.elements[e.attrs["name"]] = e
	}
	return x
}

// validate is what is wrong with an element, by its declaration.
func (x *xsd) validate(n *node) []string {
	decl := x.elements[n.name]
	if decl == nil {
		return []string{"unknown element " + n.name}
	}
	if kind := decl.attrs["type"]; kind != "" {
		if kind != "xs:string" {
			x.t.Fatalf("the schema has the type %s", kind)
		}
		if len(n.children)+len(n.attrs) > 0 {
			return []string{n.name + " is text only"}
		}
		return nil
	}
	complexType := decl.all("complexType")[0]
	out := x.attributes(n, complexType.all("attribute"))
	if complexType.attrs["mixed"] != "true" && strings.TrimSpace(n.text) != "" {
		out = append(out, n.name+" has text")
	}
	var content []*node
	for _, c := range complexType.children {
		switch c.name {
		case "sequence":
			content = c.all("element")
			if len(content) != len(c.children) {
				x.t.Fatal("the schema has a sequence of more than elements")
			}
		case "attribute":
		default:
			x.t.Fatalf("the schema has a %s", c.name)
		}
	}
	return append(out, x.sequence(n, content)...)
}

func (x *xsd) attributes(n *node, declared []*node) []string {
	var out, known []string
	for _, a := range declared {
		name := a.attrs["name"]
		known = append(known, name)
		if a.attrs["type"] != "xs:string" {
			x.t.Fatalf("the schema has an attribute of type %s", a.attrs["type"])
		}
		if _, given := n.attrs[name]; !given && a.attrs["use"] == "required" {
			out = append(out, n.name+" lacks "+name)
		}
	}
	for name := range n.attrs {
		if !slices.Contains(known, name) {
			out = append(out, n.name+" has "+name)
		}
	}
	return out
}

func (x *xsd) sequence(n *node, content []*node) []string {
	var out []string
	at := 0
	for _, e := range content {
		count := 0
		for at < len(n.children) && n.children[at].name == e.attrs["ref"] {
			out = append(out, x.validate(n.children[at])...)
			at, count = at+1, count+1
		}
		if least, most := occurs(e.attrs["minOccurs"]), occurs(e.attrs["maxOccurs"]); count < least || count > most {
			out = append(out, fmt.Sprintf("%s has %d %s", n.name, count, e.attrs["ref"]))
		}
	}
	for _, c := range n.children[at:] {
		out = append(out, c.name+" does not belong there in "+n.name)
	}
	return out
}

func occurs(s string) int {
	switch s {
	case "":
		return 1
	case "unbounded":
		return 1 << 30
	}
	n, _ := strconv.Atoi(s)
	return n
}

// TestXSDRefuses: a validator that lets everything pass proves nothing.
func TestXSDRefuses(t *testing.T) {
	x := newXSD(t, "../../testdata/schemas/junit.xsd")
	for _, wrong := range []string{`<testsuite tests="1"/>`, `<testsuite name="a" tests="1"><other/></testsuite>`,
		`<testcase name="a"><system-out/><failure/></testcase>`,
		`<testcase name="a"><skipped message="x"/></testcase>`, `<testcase name="a" color="b"/>`,
		`<testcase name="a">text</testcase>`,
		`<testsuite name="a" tests="1"><properties/></testsuite>`,
		`<testcase name="a"><skipped/><skipped/></testcase>`} {
		if x.validate(parseXML(t, []byte(wrong))) == nil {
			t.Errorf("passes: %s", wrong)
		}
	}
}
