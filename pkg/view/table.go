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

// Column is a heading. Wide columns are shown by `-o wide` only.
type Column struct {
	Name string
	Wide bool
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
