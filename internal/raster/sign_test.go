package raster

import (
	"bytes"
	"image/png"
	"testing"
)

// Signs are shapes: a disc is full, a ring is empty, the third is full on the left.
func TestSigns(t *testing.T) {
	for mark, want := range map[string][2]bool{"●": {true, true}, "◐": {true, false}, "○": {false, false}} {
		var out bytes.Buffer
		if err := PNG(&out,
			[]byte(
				`<svg viewBox="0 0 100 100" xmlns="http://www.w3.org/2000/svg"><text x="36" y="86" font-size="100">`+
					mark+`</text></svg>`)); err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(&out)
		if err != nil {
			t.Fatal(err)
		}
		size := picture.Bounds().Max
		dark := func(x int) bool {
			r, _, _, a := picture.At(size.X*x/100, size.Y/2).RGBA()
			return a > 0x8000 && r < 0x8000
		}
		if got := [2]bool{dark(40), dark(60)}; got != want {
			t.Errorf("%s: left and right are %v, want %v", mark, got, want)
		}
	}
}
