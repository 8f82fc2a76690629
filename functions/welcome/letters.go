package main

import (
	"embed"
	"fmt"
	"strings"
)

// kind says which letter is meant. A producer names it.
type kind string

const (
	signup      kind = "signup"       // somebody opened an account
	trialEnding kind = "trial_ending" // the free time is nearly over
	winBack     kind = "win_back"     // somebody who left
)

// kinds are all there are; each has a file in letters.
var kinds = [...]kind{signup, trialEnding, winBack}

//go:embed letters/*.txt
var letterFiles embed.FS

// letter is what a recipient gets: plain text.
type letter struct{ subject, text string }

// render fills in the letter of that kind: its file's first line is the subject, and the text follows. A name, which may
// be missing, comes with what stands before it. It is one line, whatever the users table holds: a subject of two lines
// would be a header of the user's choice.
//
// No text/template: it calls methods by name, so the linker would keep every method of the AWS SDK, a third of the binary.
func render(k kind, name string) (letter, error) {
	file, err := letterFiles.ReadFile("letters/" + string(k) + ".txt")
	if err != nil {
		return letter{}, fmt.Errorf("read letter: %w", err)
	}
	name = strings.Join(strings.Fields(name), " ")
	after := func(mark string) string {
		if name == "" {
			return ""
		}
		return mark + name
	}
	fill := strings.NewReplacer("{, name}", after(", "), "{ name}", after(" "))
	subject, text, _ := strings.Cut(string(file), "\n\n")
	return letter{subject: fill.Replace(subject), text: fill.Replace(text)}, nil
}
