package render

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

// shade is one colour on light and on dark ground. An SVG is turned dark by its values: no light value stands in the table with two dark ones.
type shade struct{ light, dark string }

// on is the value of the shade in a theme.
func (s shade) on(t Theme) string {
	if t == ThemeDark {
		return s.dark
	}
	return s.light
}

// ink are the colours by what they mean. Those of states follow Okabe and Ito, whose colours can be told apart with any colour vision,
// darkened or lightened until they stand out from the ground.
type ink struct {
	ground, text, muted, frame           shade // of boxes; muted is text of second rank
	head, body, group, groupFrame        shade // fills of boxes, and namespaces
	traffic, request                     shade
	effective, partial, overridden       shade
	dangling, unknown, idle              shade
	missing                              shade // the frame of what is not in the input
	policyFill, policyFrame, sectionFill shade // where the kind does not count
}

func colours() ink {
	return ink{
		ground: shade{"#ffffff", "#14181d"}, text: shade{"#1b1f23", "#e8eaec"}, muted: shade{"#57606a", "#a9b1ba"}, frame: shade{"#858d96", "#76808a"},
		head: shade{"#eceff2", "#2a3038"}, body: shade{"#fefefe", "#1c2127"}, group: shade{"#f7f8f9", "#181c22"}, groupFrame: shade{"#c3c9cf", "#3b434c"},
		traffic: shade{"#7f8790", "#87909a"}, request: shade{"#8e2a8b", "#e39be0"},
		effective: shade{"#00855f", "#3ecf9f"}, partial: shade{"#b87500", "#f5bd41"}, overridden: shade{"#b83200", "#ff8052"},
		dangling: shade{"#3a3f45", "#d3d7db"}, unknown: shade{"#6c839c", "#8ba3bc"}, idle: shade{"#5f6873", "#9fa8b3"}, missing: shade{"#b83200", "#ff8052"},
		policyFill: shade{"#eef1f5", "#262d35"}, policyFrame: shade{"#4d5b6b", "#b2bfcc"}, sectionFill: shade{"#f4f6f7", "#20262c"},
	}
}

// hue is the pair of colours that a policy kind has: of its name and frame, and of its ground.
type hue struct{ line, fill shade }

// hues are given to the policy kinds of a picture in their order, and again from the first on where there are more kinds.
func hues() []hue {
	return []hue{
		{shade{"#0a5a9c", "#82bdf2"}, shade{"#e2eefa", "#15304a"}},
		{shade{"#8f3b74", "#e6a5d0"}, shade{"#f8e8f2", "#402238"}},
		{shade{"#6a5a08", "#e0cf5c"}, shade{"#f8f3d2", "#383310"}},
		{shade{"#0c666c", "#70d2d6"}, shade{"#ddf3f3", "#10393c"}},
		{shade{"#4a4db0", "#b3b6f7"}, shade{"#e9e9fb", "#292b54"}},
		{shade{"#75492a", "#deb48f"}, shade{"#f6ebe1", "#3c2b1c"}},
		{shade{"#99344c", "#f2a4b4"}, shade{"#fbe8ed", "#45202a"}},
		{shade{"#48566a", "#b4c1d0"}, shade{"#e8ecf2", "#2b343e"}},
	}
}

// shades lists every colour, sorted by its light value.
func shades() []shade {
	c := colours()
	out := []shade{c.ground, c.text, c.muted, c.frame, c.head, c.body, c.group, c.groupFrame, c.traffic, c.request, c.effective, c.partial, c.overridden,
		c.dangling, c.unknown, c.idle, c.missing, c.policyFill, c.policyFrame, c.sectionFill}
	for _, h := range hues() {
		out = append(out, h.line, h.fill)
	}
	slices.SortFunc(out, func(a, b shade) int { return cmp.Or(cmp.Compare(a.light, b.light), cmp.Compare(a.dark, b.dark)) })
	return slices.Compact(out)
}

// DarkCSS are the rules that turn an SVG of ours dark: every light colour becomes its dark one. The rules hold below prefix, a selector, and
// where that is a list, below each of it.
func DarkCSS(prefix string) string {
	var b strings.Builder
	for _, s := range shades() {
		for _, property := range []string{"fill", "stroke"} {
			for i, p := range strings.Split(prefix, ",") {
				b.WriteString(map[bool]string{true: ",", false: ""}[i > 0] + strings.TrimSpace(p) + ` [` + property + `="` + s.light + `"]`)
			}
			b.WriteString("{" + property + ":" + s.dark + "}\n")
		}
	}
	return b.String()
}

// stroke is how a line is drawn: no two states share the pattern, so that they can be told apart without colour.
type stroke struct {
	colour shade
	style  string // of Graphviz
	width  string
	arrow  string
	dashes string // the same pattern for Mermaid; "" is solid
	means  string
}

// pens are the lines by the state of an edge, or else its kind.
func pens() map[string]stroke {
	c := colours()
	return map[string]stroke{
		"parent":         {c.traffic, "solid", "1", "normal", "", "traffic"},
		"taken":          {c.request, "solid", "3", "normal", "", "way of the request"},
		"effective":      {c.effective, "solid", "1.6", "normal", "", "in force"},
		"partial":        {c.partial, "dashed", "1.6", "normal", "6 3", "partly in force"},
		"overridden":     {c.overridden, "dotted", "1.8", "normal", "1.5 3.5", "overridden"},
		"conditionFalse": {c.idle, "dotted", "1.2", "onormal", "1 5", "condition false"},
		"dangling":       {c.dangling, "dashed", "1", "odiamond", "7 2 1.5 2", "to what is not in the input, ends in a diamond"},
		"targets":        {c.unknown, "solid", "0.7", "vee", "", "reaches nothing"},
	}
}

// strokeOf is the line of an edge with that state and kind.
func strokeOf(state, kind string) stroke {
	all := pens()
	if s, known := all[state]; known {
		return s
	}
	if s, known := all[kind]; known {
		return s
	}
	s := all["targets"]
	s.means = cmp.Or(state, kind)
	return s
}

// sign is what stands in front of the name of a policy, by what became of it.
func sign(state string) (string, shade) {
	c := colours()
	switch state {
	case "effective":
		return "●", c.effective
	case "partial":
		return "◐", c.partial
	case "conditionFalse":
		return "⊘", c.idle
	}
	return "○", c.overridden
}
