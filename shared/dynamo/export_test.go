package dynamo

import "time"

// Patient returns the store whose groups never send before all who run have asked,
// for tests that count calls: on a busy machine 50 ms are soon over.
func (s *Store) Patient() *Store {
	patient := *s
	patient.linger = time.Hour
	return &patient
}
