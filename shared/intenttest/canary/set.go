package canary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Set is the canaries of one test. The zero Set has none. It is safe for use by several goroutines.
type Set struct {
	mu    sync.Mutex
	texts map[string]string // the canary by what it stands for
	birds []bird
}

// bird is one canary.
type bird struct{ text, of string }

// Text is the canary that stands for a value, the same whenever that is asked for; the empty value has none. Letters and digits
// alone, so that no escape hides it; some twenty of them.
func (s *Set) Text(of string) string {
	if of == "" {
		return ""
	}
	return s.stand("text "+of, func(n int) string { return fmt.Sprintf("canary%dtext", 1000+n) })
}

// Name is the canary that stands for a name of a field or an attribute.
func (s *Set) Name(of string) string {
	return s.stand("name "+of, func(n int) string { return fmt.Sprintf("canary%dname", 1000+n) })
}

// Number is the canary that stands for a number other than 0: eight digits, with the sign of the number.
func (s *Set) Number(of string) string {
	if n, err := strconv.ParseFloat(of, 64); err != nil || n == 0 {
		return of
	}
	digits := s.stand("number "+of, func(n int) string { return strconv.Itoa(71_830_000 + 7*n) })
	if strings.HasPrefix(of, "-") {
		return "-" + digits
	}
	return digits
}

func (s *Set) stand(of string, canary func(n int) string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil {
		s.texts = map[string]string{}
	}
	if s.texts[of] == "" {
		s.texts[of] = canary(len(s.birds))
		s.birds = append(s.birds, bird{s.texts[of], of})
	}
	return s.texts[of]
}

// Exact makes a value a canary whose form is the caller's.
func (s *Set) Exact(of, value string) string {
	return s.stand("value "+of, func(int) string { return value })
}

// In says of each canary in a text what it stands for, sorted.
func (s *Set) In(text string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.ToLower(text)
	var found []string
	for _, b := range s.birds {
		if strings.Contains(text, strings.ToLower(b.text)) {
			found = append(found, fmt.Sprintf("%s (%s)", b.of, b.text))
		}
	}
	slices.Sort(found)
	return found
}
