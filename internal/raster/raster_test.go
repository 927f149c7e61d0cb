package raster

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

const drawing = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg width="100pt" height="60pt" viewBox="0.00 0.00 100.00 60.00" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<g id="graph0" class="graph" transform="scale(1 1) rotate(0) translate(4 56)">
<polygon fill="white" stroke="none" points="-4,4 -4,-56 96,-56 96,4 -4,4"/>
<g id="node1"><title>ignored</title>
<polygon fill="#00ff00" stroke="#ff0000" stroke-width="2" points="0,-20 0,-50 20,-50 20,-20 0,-20"/>
<ellipse fill="blue" stroke="none" cx="40" cy="-35" rx="8" ry="8"/>
<path fill="none" stroke="black" stroke-width="2" stroke-dasharray="5,5" d="M0,-10C10,-10 20,-10 30,-10L60,-10"/>
<a xlink:href="#x"><text text-anchor="middle" x="70" y="-30" font-family="Helvetica,sans-Serif" font-weight="bold" font-size="20.00" fill="#ff00ff">&lt;W&gt;</text></a>
</g></g></svg>`

// at is the colour of a point of the drawing, in its own coordinates.
func at(picture image.Image, x, y float64) color.NRGBA {
	return color.NRGBAModel.Convert(picture.At(int((x+4)*density), int((y+56)*density))).(color.NRGBA)
}

func TestPNG(t *testing.T) {
	var out bytes.Buffer
	if err := PNG(&out, []byte(drawing)); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got := picture.Bounds().Max; got != image.Pt(200, 120) {
		t.Errorf("the picture is %v large", got)
	}
	white, black := color.NRGBA{255, 255, 255, 255}, color.NRGBA{0, 0, 0, 255}
	for _, c := range []struct {
		what string
		x, y float64
		want color.NRGBA
	}{
		{"background", 90, 0, white}, {"fill", 10, -35, color.NRGBA{0, 255, 0, 255}}, {"stroke", 0, -35,
			color.NRGBA{255, 0, 0, 255}},
		{"ellipse", 40, -35, color.NRGBA{0, 0, 255, 255}}, {"dash", 2, -10, black}, {"between dashes", 7.5, -10,
			white}, {"second dash, behind the curve", 52, -10, black},
	} {
		if got := at(picture, c.x, c.y); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
	inked := 0
	for x := 50.0; x < 95; x += 0.5 {
		for y := -45.0; y < -28; y += 0.5 {
			if at(picture, x, y) == (color.NRGBA{255, 0, 255, 255}) {
				inked++
			}
		}
	}
	if inked < 50 {
		t.Errorf("the text has %d points", inked)
	}
}

// TestLarge holds that a drawing of any size becomes a picture of a bounded one.
func TestLarge(t *testing.T) {
	picture, err := paint([]byte(`<svg viewBox="0 0 50000 20000"></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X*size.Y > maxPixels*11/10 || size.X < 2*size.Y {
		t.Errorf("%v", size)
	}
}

func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "there is none",
		"<html></html>":                    "starts with html",
		"<svg>":                            `the view box "" is none`,
		`<svg viewBox="0 0 0 5"></svg>`:    "is none",
		`<svg viewBox="0 0 1e200 1e200"/>`: "is none",
		`<svg viewBox="0 0 1e300 1e-9"/>`:  "too large",
		`<svg viewBox="0 0 5 5"><path d="M0,0Q1,1 2,2"/></svg>`: "path: Q with 4 numbers is not known",
		`<svg viewBox="0 0 5 5"><text>never ended`:              "unexpected EOF",
		`<svg viewBox="0 0 5 5"></g>`:                           "closed by",
	} {
		if _, err := paint([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}
