"""Proofs that sessions share: what no mechanism can beat is the same for all of them, and what takes longest on most pages."""

from functools import wraps


def found_once(search):
    """``search`` for a certificate, which is made once for the same questions; whoever asks again is told of the same progress, at
    once. What was cancelled is looked for again."""
    found = {}

    @wraps(search)
    def look(workload, epsilon, time_limit=30.0, prior=None, callback=None, cancel=None):
        key = (workload.digest, epsilon, time_limit, None if prior is None else prior.tobytes())
        if key not in found:
            told = []

            def follow(progress):
                told.append(progress)
                if callback is not None:
                    callback(progress)

            certificate = search(workload, epsilon, time_limit, prior, callback=follow, cancel=cancel)
            if cancel is None or not cancel():
                found[key] = certificate, told
            return certificate
        certificate, told = found[key]
        for progress in told if callback is not None else ():
            callback(progress)
        return certificate

    return look
