"""Projected gradient descent (McKenna et al. 2020, Algorithm 2): the baseline that the certified design is compared with."""
