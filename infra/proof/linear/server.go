package linear

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// handler is what workers ask.
func (p *parent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /next/{worker}", func(w http.ResponseWriter, r *http.Request) {
		number, _ := strconv.Atoi(r.PathValue("worker"))
		for {
			b, wait, changed := p.next(number)
			if len(b.Deliveries) > 0 {
				_ = json.NewEncoder(w).Encode(b) // unheard, the deliveries are unknown
				return
			}
			select {
			case <-time.After(wait):
			case <-changed:
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /effect", func(w http.ResponseWriter, r *http.Request) {
		var asked call
		if json.NewDecoder(r.Body).Decode(&asked) != nil {
			return
		}
		answer, ok := p.effect(asked)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		_ = json.NewEncoder(w).Encode(answer)
	})
	mux.HandleFunc("POST /answer", func(_ http.ResponseWriter, r *http.Request) {
		var a answer
		if json.NewDecoder(r.Body).Decode(&a) == nil {
			p.answered(a)
		}
	})
	return mux
}
