// Package serve is what the programs of all peers have in common. It needs the standard library alone, so that it can be built into any module.
package serve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Answers reads an input a line, has answer give its facts, and writes them a line, or why there are none. Both are described in input.go and
// program/process.go of the comparison. A panic of answer is an input that it refuses. It ends with the last input, or when
// nobody reads the answers any more.
func Answers(answer func(line []byte) (facts map[string]string, err error)) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		facts, err := guarded(answer, line)
		reply := map[string]any{"facts": facts}
		if err != nil {
			reply = map[string]any{"error": err.Error()}
		}
		if err := out.Encode(reply); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
			return
		}
	}
}

func guarded(answer func([]byte) (map[string]string, error), line []byte) (facts map[string]string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return answer(line)
}
