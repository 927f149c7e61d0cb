package picture

import (
	"cmp"
	"slices"
	"strings"
)

// Theme is the ground that a picture is drawn for.
type Theme string

// The themes. ThemeAuto is light, and an SVG in it turns dark where the reader prefers that.
const (
	ThemeAuto  Theme = "auto"
	ThemeLight Theme = "light"
	ThemeDark  Theme = "dark"
)

// Themes lists the themes.
func Themes() []string { return []string{string(ThemeAuto), string(ThemeLight), string(ThemeDark)} }

// themeColor is one colour on light and on dark ground. An SVG is turned dark by its values: no
// light value stands in the table with two dark ones.
type themeColor struct{ light, dark string }

// valueIn is the value of the colour in a theme.
func (s themeColor) valueIn(t Theme) string {
	if t == ThemeDark {
		return s.dark
	}
	return s.light
}

// palette has the colours by what they mean. Those of states follow Okabe and Ito, whose colours
// can be told apart with any colour vision, darkened or lightened until they stand out from the
// ground.
type palette struct {
	ground, text, muted, frame           themeColor // of boxes; muted is text of second rank
	head, body, group, groupFrame        themeColor // fills of boxes, and namespaces
	traffic, request                     themeColor
	effective, partial, overridden       themeColor
	dangling, unknown, idle              themeColor
	missing                              themeColor // the frame of what is not in the input
	policyFill, policyFrame, sectionFill themeColor // where the kind does not count
}

func newPalette() palette {
	return palette{
		ground: themeColor{"#ffffff", "#14181d"}, text: themeColor{"#1b1f23", "#e8eaec"}, muted: themeColor{"#57606a",
			"#a9b1ba"}, frame: themeColor{"#858d96", "#76808a"},
		head: themeColor{"#eceff2", "#2a3038"}, body: themeColor{"#fefefe", "#1c2127"}, group: themeColor{"#f7f8f9",
			"#181c22"}, groupFrame: themeColor{"#c3c9cf", "#3b434c"},
		traffic: themeColor{"#7f8790", "#87909a"}, request: themeColor{"#8e2a8b", "#e39be0"},
		effective: themeColor{"#00855f", "#3ecf9f"}, partial: themeColor{"#b87500", "#f5bd41"}, overridden: themeColor{
			"#b83200", "#ff8052"},
		dangling: themeColor{"#3a3f45", "#d3d7db"}, unknown: themeColor{"#6c839c",
			"#8ba3bc"}, idle: themeColor{"#5f6873", "#9fa8b3"}, missing: themeColor{"#b83200", "#ff8052"},
		policyFill: themeColor{"#eef1f5", "#262d35"}, policyFrame: themeColor{"#4d5b6b",
			"#b2bfcc"}, sectionFill: themeColor{"#f4f6f7", "#20262c"},
	}
}

// kindColor is the pair of colours that a policy kind has: of its name and frame, and of its
// ground.
type kindColor struct{ line, fill themeColor }

// kindColors returns the colours that are given to the policy kinds of a picture in their order,
// and again from the first on where there are more kinds.
func kindColors() []kindColor {
	return []kindColor{
		{themeColor{"#0a5a9c", "#82bdf2"}, themeColor{"#e2eefa", "#15304a"}},
		{themeColor{"#8f3b74", "#e6a5d0"}, themeColor{"#f8e8f2", "#402238"}},
		{themeColor{"#6a5a08", "#e0cf5c"}, themeColor{"#f8f3d2", "#383310"}},
		{themeColor{"#0c666c", "#70d2d6"}, themeColor{"#ddf3f3", "#10393c"}},
		{themeColor{"#4a4db0", "#b3b6f7"}, themeColor{"#e9e9fb", "#292b54"}},
		{themeColor{"#75492a", "#deb48f"}, themeColor{"#f6ebe1", "#3c2b1c"}},
		{themeColor{"#99344c", "#f2a4b4"}, themeColor{"#fbe8ed", "#45202a"}},
		{themeColor{"#48566a", "#b4c1d0"}, themeColor{"#e8ecf2", "#2b343e"}},
	}
}

// listColors lists every colour, sorted by its light value.
func listColors() []themeColor {
	c := newPalette()
	out := []themeColor{c.ground, c.text, c.muted, c.frame, c.head, c.body, c.group, c.groupFrame, c.traffic,
		c.request, c.effective, c.partial, c.overridden,
		c.dangling, c.unknown, c.idle, c.missing, c.policyFill, c.policyFrame, c.sectionFill}
	for _, h := range kindColors() {
		out = append(out, h.line, h.fill)
	}
	slices.SortFunc(out, func(a, b themeColor) int {
		return cmp.Or(cmp.Compare(a.light, b.light),
			cmp.Compare(a.dark, b.dark))
	})
	return slices.Compact(out)
}

// DarkCSS are the rules that turn an SVG of ours dark: every light colour becomes its dark one. The
// rules hold below prefix, a selector, and where that is a list, below each of it.
func DarkCSS(prefix string) string {
	var b strings.Builder
	for _, s := range listColors() {
		for _, property := range []string{"fill", "stroke"} {
			for i, p := range strings.Split(prefix, ",") {
				b.WriteString(map[bool]string{true: ",", false: ""}[i > 0] + strings.TrimSpace(p) + ` [` + property +
					`="` + s.light + `"]`)
			}
			b.WriteString("{" + property + ":" + s.dark + "}\n")
		}
	}
	return b.String()
}

// lineStyle is how a line is drawn: no two states share the pattern, so that they can be told apart
// without colour.
type lineStyle struct {
	colour  themeColor
	style   string // of Graphviz
	width   string
	arrow   string
	dashes  string // the same pattern for Mermaid; "" is solid
	meaning string
}

// lineStyles returns the styles of lines by the state of an edge, or else its kind.
func lineStyles() map[string]lineStyle {
	c := newPalette()
	return map[string]lineStyle{
		"parent":         {c.traffic, "solid", "1", "normal", "", "traffic"},
		"taken":          {c.request, "solid", "3", "normal", "", "way of the request"},
		"effective":      {c.effective, "solid", "1.6", "normal", "", "in force"},
		"partial":        {c.partial, "dashed", "1.6", "normal", "6 3", "partly in force"},
		"overridden":     {c.overridden, "dotted", "1.8", "normal", "1.5 3.5", "overridden"},
		"conditionFalse": {c.idle, "dotted", "1.2", "onormal", "1 5", "condition false"},
		"dangling": {c.dangling, "dashed", "1", "odiamond", "7 2 1.5 2",
			"to what is not in the input, ends in a diamond"},
		"targets":  {c.unknown, "solid", "0.7", "vee", "", "reaches nothing"},
		"stopped":  {c.request, "dashed", "1.2", "onormal", "3 4", "way of the request if nothing before denied it"},
		"bypassed": {c.muted, "dashed", "1.4", "tee", "5 3", "bypassed: the request does not meet it"},
	}
}

// findLineStyle is the style of an edge with that state and kind.
func findLineStyle(state, kind string) lineStyle {
	all := lineStyles()
	if s, known := all[state]; known {
		return s
	}
	if s, known := all[kind]; known {
		return s
	}
	s := all["targets"]
	s.meaning = cmp.Or(state, kind)
	return s
}

// StateSign is what stands in front of the name of a policy, by what became of it.
func StateSign(state string) (string, themeColor) {
	c := newPalette()
	switch state {
	case "effective":
		return "●", c.effective
	case "partial":
		return "◐", c.partial
	case "conditionFalse":
		return "⊘", c.idle
	case "bypassed":
		return "◌", c.muted
	}
	return "○", c.overridden
}
