package main

import (
	"embed"
	"fmt"
	"strings"
	"text/template"
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

// letters are the templates, by kind: each defines "subject" and "text", of the recipient's Name,
// which may be empty.
type letters map[kind]*template.Template

// newLetters reads the templates that the binary carries.
func newLetters() (letters, error) {
	all := letters{}
	for _, k := range kinds {
		t, err := template.ParseFS(letterFiles, "letters/"+string(k)+".txt")
		if err != nil {
			return nil, fmt.Errorf("read letter %s: %w", k, err)
		}
		all[k] = t
	}
	return all, nil
}

// write fills in the letter. The name is one line, whatever the users table holds: a subject of two
// lines would be a header of the user's choice.
func (l letters) write(k kind, name string) (letter, error) {
	to := struct{ Name string }{strings.Join(strings.Fields(name), " ")}
	var subject, text strings.Builder
	if err := l[k].ExecuteTemplate(&subject, "subject", to); err != nil {
		return letter{}, fmt.Errorf("write subject: %w", err)
	}
	if err := l[k].ExecuteTemplate(&text, "text", to); err != nil {
		return letter{}, fmt.Errorf("write text: %w", err)
	}
	return letter{subject: strings.TrimSpace(subject.String()), text: strings.TrimSpace(text.String()) + "\n"}, nil
}
