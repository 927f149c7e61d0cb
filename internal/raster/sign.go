package raster

import (
	"math"
	"strings"
)

// signs are the signs of pictures.
func signs() []string { return []string{"●", "◐", "○", "⊘", "◌"} }

// sign paints a text that is one of the signs of pictures as a shape: fonts have them in all sizes,
// or not at all. It reports whether the text is one. Graphviz takes a sign for as wide as a blank,
// and puts the middle of that where the middle of the sign should be.
func (p *painter) sign(text string, x, y, size float64) bool {
	const blank, above, radius, line, dash = 0.14, 0.36, 0.29, 0.1, 0.114
	x, y = x+blank*size, y-above*size
	switch strings.TrimSpace(text) {
	case "●":
		p.DrawCircle(x, y, radius*size)
		p.Fill()
	case "◐":
		p.DrawArc(x, y, radius*size, math.Pi/2, 3*math.Pi/2)
		p.ClosePath()
		p.Fill()
	case "⊘":
		d := radius * size * math.Sqrt2 / 2
		p.SetDash()
		p.SetLineWidth(line * size)
		p.DrawLine(x-d, y+d, x+d, y-d)
		p.Stroke()
	case "○", "◌":
	default:
		return false
	}
	p.SetDash()
	if strings.TrimSpace(text) == "◌" {
		p.SetDash(dash*size, dash*size)
	}
	p.SetLineWidth(line * size)
	p.DrawCircle(x, y, radius*size)
	p.Stroke()
	return true
}
