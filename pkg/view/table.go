package view

// Tone is what colour repeats; the text says the same without it.
type Tone uint8

// The tones of a cell.
const (
	Plain  Tone = iota
	Good        // in force
	Partly      // partly in force
	Bad         // lost, refused
	Dim         // built in, not decisive
)

// Cell is one field of a Row.
type Cell struct {
	Text string
	Tone Tone
}

// Column is a heading, and what becomes of its cells on a terminal that is too narrow for the table: columns with the highest Rank are
// shortened, cut and left out first. Those without a Rank keep their width; those with Rank 1 stay.
type Column struct {
	Name     string
	Wide     bool // shown by `-o wide` only
	Rank     int
	MinWidth int                 // how much of it can be read with ease, in columns of the terminal
	Shorten  func(string) string // what of a cell is enough where there is little room; nil: nothing less than all of it
	Optional bool                // left out before others become too narrow to read with ease
	KeepEnd  bool                // a cell that is cut keeps its end, as of a path, not its beginning
	Wrap     bool                // a cell that is too long goes on below, as a sentence does
}

// Block is a heading with rows of equal columns below it.
type Block struct {
	Heading []string
	Columns []Column
	Rows    [][]Cell
}

// Table is what people see of a view by default: blocks, then closing lines.
type Table struct {
	Blocks []Block
	Footer []string
}

// Branch is one line of `-o tree` with the lines below it.
type Branch struct {
	Cells    []Cell
	Children []Branch
}
