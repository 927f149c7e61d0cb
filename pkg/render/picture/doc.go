// Package picture writes a topology as DOT or Mermaid, and prepares the SVG that Graphviz makes of
// DOT. It knows the shape of a graph and no question behind it.
package picture
