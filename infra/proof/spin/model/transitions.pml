/* How a record changes: the table of shared/intent/state.go, row for row. A test compares the two.

   A write lands if a row of its verb and target starts from the record's state and the row's guard holds; else its condition is
   refused and the record stays as it is. */
#define TRANSITIONS(ROW) \
	ROW(claim,    absent,   claimed,   absence) \
	ROW(commit,   absent,   completed, absence) \
	ROW(commit,   absent,   refused,   absence) \
	ROW(renew,    claimed,  claimed,   owner) \
	ROW(complete, claimed,  completed, owner) \
	ROW(refuse,   claimed,  refused,   owner) \
	ROW(release,  claimed,  released,  owner) \
	ROW(park,     claimed,  in_doubt,  owner) \
	ROW(complete, in_doubt, completed, owner) \
	ROW(refuse,   in_doubt, refused,   owner) \
	ROW(takeover, claimed,  claimed,   shown) \
	ROW(takeover, released, claimed,   shown) \
	ROW(open,     claimed,  claimed,   shown) \
	ROW(park,     claimed,  in_doubt,  shown) \
	ROW(park,     released, in_doubt,  shown) \
	ROW(settle,   in_doubt, completed, shown) \
	ROW(settle,   in_doubt, refused,   shown) \
	ROW(settle,   in_doubt, released,  shown)
