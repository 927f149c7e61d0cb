package merge

import "slices"

// Output collects what a PlanFunc returns: the settings in force, and what became of every setting
// that it read. The zero value is ready.
type Output struct {
	Units   []Unit
	Effects []Effect
}

// Take puts a value in force at a path. The layers are the positions of those who set it, in their
// bare blocks.
func (o *Output) Take(path Path, value any, layers ...int) {
	u := Unit{Path: path, Value: value, From: BareLayers(layers...)}
	o.Units = append(o.Units, u)
	o.Note(u, Taken, "", nil)
}

// Lose says that a value of a layer is nowhere in force, why, and the layers to which it lost.
func (o *Output) Lose(path Path, value any, layer int, why Reason, winners ...int) {
	o.Note(Unit{Path: path, Value: value, From: BareLayers(layer)}, Dropped, why, BareLayers(winners...))
}

// Note adds an effect for every source of a unit. Other is who won, or lost, against it.
func (o *Output) Note(u Unit, a Action, why Reason, other []Source) {
	for i := range u.From {
		o.Effects = append(o.Effects, Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value,
			From: u.From[i : i+1], Action: a, Reason: why, Other: other})
	}
}

// BareLayers are the bare blocks of layers by their positions, each once.
func BareLayers(layers ...int) []Source {
	var out []Source
	for _, l := range layers {
		if from := (Source{Layer: l, Block: Bare}); !slices.Contains(out, from) {
			out = append(out, from)
		}
	}
	return out
}
