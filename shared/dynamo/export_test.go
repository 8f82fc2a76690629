package dynamo

import "time"

// Patient returns the store whose groups never send before all who run have asked
// and that takes its time for large results, for tests that count calls or read such
// results: on a busy machine 50 and 500 ms are soon over.
func (s *Store) Patient() *Store {
	patient := *s
	patient.linger, patient.storeResultFor = time.Hour, time.Minute
	return &patient
}
