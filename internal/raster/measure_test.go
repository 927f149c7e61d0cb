package raster

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var lengths = regexp.MustCompile(`textLength="([^"]+)" lengthAdjust="spacingAndGlyphs">([^<]*)<`)

// Texts have the width of the font that Graphviz reckons with: in units of an em, Helvetica's
// widths of "Wi." are 944, 222 and 278.
func TestMeasured(t *testing.T) {
	got, err := Measured(
		[]byte(
			`<svg viewBox="0 0 9 9"><text x="1" font-size="100.00">Wi.</text><text font-size="100" font-weight="bold">Wi.</text>` +
				`<text font-size="10">&#160;&lt;a&gt;</text><text font-size="10">●</text><text font-size="10"> </text><text font-size="10"/><g>x</g></svg>`))
	if err != nil {
		t.Fatal(err)
	}
	found := lengths.FindAllStringSubmatch(string(got), -1)
	if len(found) != 3 || strings.Count(string(got), "textLength") != 3 {
		t.Fatalf("%s", got)
	}
	for i, want := range []float64{94.4 + 22.2 + 27.8, 94.4 + 27.8 + 27.8, 2.78 + 5.84 + 5.56 + 5.84} {
		if wide, err := strconv.ParseFloat(found[i][1], 64); err != nil || wide < want*0.97 || wide > want*1.03 {
			t.Errorf("%q is %s wide, want %.1f", found[i][2], found[i][1], want)
		}
	}
	if plain := regexp.MustCompile(` textLength="[^"]+" lengthAdjust="spacingAndGlyphs"`).ReplaceAllString(string(got),
		""); !strings.Contains(plain, `<text x="1" font-size="100.00">Wi.</text>`) ||
		!strings.HasSuffix(plain, `<text font-size="10"/><g>x</g></svg>`) {
		t.Errorf("more was changed: %s", plain)
	}
}

func TestMeasuredRefusesWhatIsNoXML(t *testing.T) {
	for _, text := range []string{"<svg><text>", "<svg></g>"} {
		if _, err := Measured([]byte(text)); err == nil {
			t.Errorf("%s is measured", text)
		}
	}
}
