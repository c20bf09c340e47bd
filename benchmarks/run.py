"""Run every benchmark; ratios are measured within one run. Results go to benchmarks/results/."""

from __future__ import annotations

from benchmarks import cell_measures, convert, lookup, peers, projection, protect, ptable, risk, scaling, small_areas

if __name__ == "__main__":
    ptable.main()
    lookup.main()
    risk.main()
    protect.main()
    peers.main()
    scaling.main()
    projection.main()
    cell_measures.main()
    small_areas.measure()
    convert.main()
