package render

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ColorMode is what the user wants: the value of --color.
type ColorMode string

// The colour modes. The empty ColorMode is Auto.
const (
	Auto   ColorMode = "auto"
	always ColorMode = "always"
	never  ColorMode = "never"
)

// ColorModes lists the values of --color.
func ColorModes() []string { return []string{string(Auto), string(always), string(never)} }

// ParseColorMode reads the value of --color.
func ParseColorMode(s string) (ColorMode, error) {
	switch m := ColorMode(s); m {
	case Auto, always, never:
		return m, nil
	case "":
		return Auto, nil
	}
	return "", fmt.Errorf("unknown color mode %q, use one of %s", s, strings.Join(ColorModes(), ", "))
}

// Terminal is what the caller knows about where output goes.
type Terminal struct {
	IsTerminal bool
	NoColor    bool // the environment has a NO_COLOR that is not empty
}

// Enabled decides: always and never do as they say, Auto colours a terminal unless NO_COLOR forbids
// it.
func (m ColorMode) Enabled(t Terminal) bool {
	switch m {
	case always:
		return true
	case never:
		return false
	}
	return t.IsTerminal && !t.NoColor
}

// textStyle is how text for people is written.
type textStyle struct{ color, ascii bool }

// escapeText escapes s and, if need be, replaces the marks that are not ASCII.
func (st textStyle) escapeText(s string) string {
	s = escape.Escape(s)
	if st.ascii {
		s = asciiMarks.Replace(s)
	}
	return s
}

// asciiMarks are the marks that views use, and what stands for them.
var asciiMarks = strings.NewReplacer("✔", "ok", "✘", "x", "·", "-", "…", "...", "→", "->")

// colorText colours text that is escaped already.
func (st textStyle) colorText(text string, tone view.Tone) string {
	code := sgrCode(tone)
	if !st.color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// sgrCode is the terminal's number for a tone.
func sgrCode(tone view.Tone) string {
	switch tone {
	case view.Good:
		return "32"
	case view.Partly:
		return "33"
	case view.Bad:
		return "31"
	case view.Dim:
		return "2"
	}
	return ""
}
