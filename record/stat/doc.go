// Package stat is the arithmetic behind the figures: quantiles, intervals that
// assume no distribution, exact multisets of integers, mergeable sketches,
// early stopping and tests of difference. It knows nothing about requests and
// imports nothing of ours.
//
// A function that can't answer honestly (an empty sample, an interval from too
// few values) says so with ok = false; it never returns NaN. Every result is a
// pure function of the multiset of values; only Series, Share and what is built
// on LongRunVariance heed the order in which they came, since that is where
// values tell of each other.
package stat
