"""The structure of a Gram matrix without applying it equals the result of applying it, and equal
parts are counted once."""

from ldp_core import workloads as w


def test_queries_of_twenty_attributes_are_counted_without_a_list():
    workload = w.KWayMarginals((2,) * 20, 10)
    assert workload.num_queries == 184_756 * 2**10
    assert "_offsets" not in vars(workload)
