package view

import "strings"

// UnsureMark stands in front of a line that what could not be read may change.
const UnsureMark = "? "

// MarkUnsure marks the row if any list that may change it could not be read.
func MarkUnsure(row []Cell, unread []string) []Cell {
	if len(unread) > 0 {
		row[0].Text = UnsureMark + row[0].Text
	}
	return row
}

// PrependLabel puts a cell in front of a row, and moves the row's mark there.
func PrependLabel(label Cell, row []Cell) []Cell {
	if text, marked := strings.CutPrefix(row[0].Text, UnsureMark); marked {
		row[0].Text, label.Text = text, UnsureMark+label.Text
	}
	return append([]Cell{label}, row...)
}

// UnsureLine explains the mark, if a row has it.
func UnsureLine(marked bool) []string {
	if !marked {
		return nil
	}
	return []string{"? = what could not be read may change this line"}
}

// The marks of a tree. Writers that may not use them replace them.
const (
	MarkInForce = "✔"
	MarkLost    = "✘"
)
