package pgstore_test

import "oneticket/dedup/storetest"

// What a store has to keep, told by the suite's own words.
var (
	refOf   = storetest.RefOf
	offerOf = storetest.OfferOf
	openOf  = storetest.OpenOf
	claimed = storetest.Claimed
	opened  = storetest.Opened
)
