package report

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// Picture is a drawing of a report's topology as a part of the page. Without one, Missing says why.
type Picture struct {
	Missing string

	svg []byte // as render.CleanSVG writes it, and nobody else
}

// Draw draws what a report shows in its picture. Nodes are links to the places of the page that
// tell about them.
func Draw(t *graph.Topology, draw render.Drawer) (Picture, error) {
	raw, err := draw(string(render.SVG), picture.FormatDOT(t, picture.DOTOptions{Links: nodeLink}))
	if err != nil {
		return Picture{}, err
	}
	svg, err := picture.CleanSVG(raw, picture.SVGOptions{NoStyle: true})
	return Picture{svg: svg}, err
}

// nodeLink is the place of the page about a node.
func nodeLink(id string) string { return "#/node/" + uriComponent(id) }

// uriComponent writes s as encodeURIComponent of JavaScript does, by which the front end finds the
// links to a node.
func uriComponent(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.!~*'()", c) >= 0:
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// pictureStyle turns the picture dark with the page: where the reader prefers that, unless the page
// was told otherwise, and where it was told to be. Paper is light.
func pictureStyle() string {
	return "@media screen and (prefers-color-scheme:dark){\n" +
		picture.DarkCSS(`:root:not([data-theme="light"]) #picture`) + "}\n" +
		"@media screen{\n" + picture.DarkCSS(`:root[data-theme="dark"] #picture`) + "}\n"
}
