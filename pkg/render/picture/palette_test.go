package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// linear is a colour as linear light.
func linear(t *testing.T, hex string) [3]float64 {
	t.Helper()
	var out [3]float64
	if len(hex) != 7 || hex[0] != '#' || strings.ToLower(hex) != hex {
		t.Fatalf("%q is no colour", hex)
	}
	for i := range out {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			out[i] = v / 12.92
		} else {
			out[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return out
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG 2.
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(linear(t, a)), luminance(linear(t, b))
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// seen are what colours look like to people who lack one kind of cone (Viénot, Brettel and Mollon
// 1999, for linear light).
func seen() map[string][3][3]float64 {
	return map[string][3][3]float64{
		"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	}
}

// lab is a colour of linear light in CIE L*a*b*, in which distances are about as large as they
// look.
func lab(c [3]float64) [3]float64 {
	x := (0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047
	y := luminance(c)
	z := (0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	return [3]float64{116*f(y) - 16, 500 * (f(x) - f(y)), 200 * (f(y) - f(z))}
}

func distance(t *testing.T, a, b string, m [3][3]float64) float64 {
	as := func(hex string) [3]float64 {
		in, out := linear(t, hex), [3]float64{}
		for i := range out {
			for j := range in {
				out[i] += m[i][j] * in[j]
			}
			out[i] = min(max(out[i], 0), 1)
		}
		return lab(out)
	}
	x, y := as(a), as(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

// Text stands out by 4.5 to 1, and lines by 3 to 1, from every ground that they can be on (WCAG
// 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	c := newPalette()
	for _, theme := range []Theme{ThemeLight, ThemeDark} {
		holds := func(what string, front, back themeColor, least float64) {
			if got := contrast(t, front.valueIn(theme), back.valueIn(theme)); got < least {
				t.Errorf("%s: %s on %s: %.2f, want %.1f", theme, what, back.valueIn(theme), got, least)
			}
		}
		grounds := []themeColor{c.ground, c.group, c.body, c.head}
		for i, ground := range grounds {
			holds("text", c.text, ground, 4.5)
			holds("muted text", c.muted, ground, 4.5)
			holds("what is missing", c.missing, ground, 4.5)
			holds("frame", c.frame, grounds[min(i, 2)], 3)
		}
		for state, pen := range lineStyles() {
			holds("the line of "+state, pen.colour, c.ground, 3)
			holds("the line of "+state, pen.colour, c.group, 3)
		}
		for i, h := range kindColors() {
			for _, text := range []themeColor{c.text, c.muted, h.line} {
				holds(fmt.Sprintf("text of kind %d", i), text, h.fill, 4.5)
			}
			holds("the frame of a kind", h.line, c.group, 3)
			for _, state := range []string{"effective", "partial", "overridden", "conditionFalse", "bypassed"} {
				_, colour := StateSign(state)
				holds("the sign of "+state, colour, h.fill, 3)
			}
		}
	}
}

// The states can be told apart by colour with any cones, and without colour at all.
func TestStatesAreDistinct(t *testing.T) {
	all := lineStyles()
	states := []string{"effective", "partial", "overridden", "dangling", "targets"}
	for _, theme := range []Theme{ThemeLight, ThemeDark} {
		for eyes, m := range seen() {
			for i, a := range states {
				for _, b := range states[i+1:] {
					if d := distance(t, all[a].colour.valueIn(theme), all[b].colour.valueIn(theme), m); d < 12 {
						t.Errorf("%s, %s: %s and %s are %.1f apart", theme, eyes, a, b, d)
					}
				}
			}
		}
	}
}

func TestStatesDoNotNeedColour(t *testing.T) {
	patterns, words, marks := map[string]string{}, map[string]string{}, map[string]string{}
	differ := func(where map[string]string, what, state string) {
		if other := where[what]; other != "" {
			t.Errorf("%s and %s are both drawn as %s", state, other, what)
		}
		where[what] = state
	}
	for state, pen := range lineStyles() {
		differ(patterns, pen.dashes+"/"+pen.width, state)
		differ(words, pen.meaning, state)
	}
	for _, state := range []string{"effective", "partial", "overridden", "conditionFalse", "bypassed"} {
		mark, _ := StateSign(state)
		differ(marks, mark, state)
	}
}

// An SVG is turned dark by values: a light one has one dark one.
func TestLightColoursHaveOneDarkOne(t *testing.T) {
	dark := map[string]string{}
	for _, s := range listColors() {
		if other, known := dark[s.light]; known {
			t.Errorf("%s is %s and %s", s.light, other, s.dark)
		}
		dark[s.light] = s.dark
		linear(t, s.dark)
	}
	if css := DarkCSS(".a, .b"); !strings.Contains(css, `.a [fill="#ffffff"],.b [fill="#ffffff"]{fill:#14181d}`) ||
		strings.ContainsAny(css, "<&\\") {
		t.Error(css)
	}
}
