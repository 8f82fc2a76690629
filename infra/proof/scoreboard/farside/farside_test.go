package farside

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

func TestSide(t *testing.T) {
	release := make(chan struct{})
	decided := make(chan struct{})
	s, err := Listen(Config{AnswerBytes: 10, Plan: func(call int) Fate {
		switch call {
		case 2:
			return Fate{Reject: true}
		case 3:
			return Fate{Hold: release, Decided: func() { close(decided) }}
		}
		return Fate{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	call := func(body string) (int, string) {
		response, err := http.Post(s.URL(), "application/json", strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		return response.StatusCode, string(answer)
	}
	if code, answer := call(`{"intent":"a"}`); code != http.StatusOK || answer != `{"receipt":"rrrrrrrrrr"}` {
		t.Errorf("first call: got %d %s", code, answer)
	}
	if code, _ := call(`{"intent":"a"}`); code != http.StatusServiceUnavailable {
		t.Errorf("rejected call: got %d", code)
	}
	held := make(chan int, 1)
	go func() {
		code, _ := call(`{"intent":"b"}`)
		held <- code
	}()
	<-decided
	select {
	case code := <-held:
		t.Errorf("held call: answered with %d before its release", code)
	default:
	}
	if got, want := s.Effects(), map[string]int{"a": 1, "b": 1}; !maps.Equal(got, want) {
		t.Errorf("effects: got %v, want %v", got, want)
	}
	close(release)
	if code := <-held; code != http.StatusOK {
		t.Errorf("held call: got %d", code)
	}
	if code, _ := call(`{}`); code != http.StatusBadRequest {
		t.Errorf("call without an intent: got %d", code)
	}
	response, err := http.Get(s.URL() + "?intent=b")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err := io.ReadAll(response.Body); err != nil || string(answer) != `{"effects":1}` {
		t.Errorf("question: got %s, %v", answer, err)
	}
}
