package view

import "strings"

// unsureMark stands in front of a line that what could not be read may change.
const unsureMark = "? "

// markUnsure marks the row if any list that may change it could not be read.
func markUnsure(row []Cell, unread []string) []Cell {
	if len(unread) > 0 {
		row[0].Text = unsureMark + row[0].Text
	}
	return row
}

// prependLabel puts a cell in front of a row, and moves the row's mark there.
func prependLabel(label Cell, row []Cell) []Cell {
	if text, marked := strings.CutPrefix(row[0].Text, unsureMark); marked {
		row[0].Text, label.Text = text, unsureMark+label.Text
	}
	return append([]Cell{label}, row...)
}

// unsureLine explains the mark, if a row has it.
func unsureLine(marked bool) []string {
	if !marked {
		return nil
	}
	return []string{"? = what could not be read may change this line"}
}
