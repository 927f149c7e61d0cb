package view

import "strings"

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

// Column is a heading, and what becomes of its cells on a terminal that is too narrow for the table.
// Columns that are the same in all rows are left out first, and what they say is said once. Then those
// with the highest Rank give up room; those without a Rank keep their width. Whatever is done, rows
// that differ look different.
type Column struct {
	Name     string
	Wide     bool // shown by `-o wide` only
	Rank     int
	MinWidth int                 // how much of it can be read with ease, in columns of the terminal
	Shorten  func(string) string // says a cell in fewer letters; nil: nothing less will do
	Shorter  func(string) string // says in still fewer what Shorten returned
	Words    bool                // the cells are from a few fixed words: different ones may become equal if shortened
	Cut      bool                // a cell that is too long is cut; others go on below
	Wrap     bool                // a cell is a sentence, which may go on below before names have to
	Below    bool                // the cell stands on lines of its own below its row rather than become narrow
	Group    bool                // the cell stands on a line of its own above the rows that share it
	Keep     bool                // not left out, even if it is the same in all rows
	Optional bool                // left out where the rows can be told apart without it
}

// Block is a heading with rows of equal columns below it.
type Block struct {
	Heading []string
	Columns []Column
	Rows    [][]Cell

	FormatGroup func(cells []string) string // says the cells of Group columns in a line; nil: as they are
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

// OrDash returns the text, or a dash where it is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// RowKey returns a key that tells rows apart.
func RowKey(row []Cell) string {
	texts := make([]string, len(row))
	for i := range row {
		texts[i] = row[i].Text
	}
	return strings.Join(texts, "\x00")
}

// SettingColumns are the columns about a setting in force. The last ones are wide.
var SettingColumns = []Column{{Name: "KIND", Rank: 9, MinWidth: 9, Shorten: ShortKind},
	{Name: "SETTING", Rank: 5, MinWidth: 12, Shorten: ShortSetting, Shorter: LastOfSetting},
	{Name: "VALUE", Rank: 1, MinWidth: 16, Cut: true, Keep: true},
	{Name: "FROM", Rank: 3, MinWidth: 12, Shorten: ShortName},
	{Name: "WHY", Rank: 8, MinWidth: 10, Shorten: shortWhy, Shorter: shorterWhy, Words: true, Keep: true},
	{Name: "SET ON", Wide: true}, {Name: "BLOCK", Wide: true}, {Name: "STRATEGY", Wide: true},
	{Name: "ORIGIN", Wide: true}}

// DropFirstColumn removes the column of sections, for targets that have none.
func (b *Block) DropFirstColumn() {
	b.Columns = b.Columns[1:]
	for i, row := range b.Rows {
		b.Rows[i] = row[1:]
		if strings.HasPrefix(row[0].Text, UnsureMark) {
			row[1].Text = UnsureMark + row[1].Text
		}
	}
}

// RowsKey returns a key that tells lists of rows apart.
func RowsKey(rows [][]Cell) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(RowKey(row) + "\n")
	}
	return b.String()
}

// WithRows returns the block with rows added to it.
func (b Block) WithRows(rows [][]Cell) Block {
	b.Rows = append(b.Rows, rows...)
	return b
}
