"""The moments at which a kind of probe is due, worked out anew: FNV-1a of target and
kind, SplitMix64, PCG-DXSM (as in Go's math/rand/v2), one moment in each part of the
UTC day."""
import datetime

M64, M128 = (1 << 64) - 1, (1 << 128) - 1


def fnv1a(data):
    h = 0xCBF29CE484222325
    for b in data:
        h = (h ^ b) * 0x100000001B3 & M64
    return h


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    return x ^ x >> 31


def draw(seed, *keys):
    """The first number in [0, 1) of a stream."""
    hi, lo = mix(seed), mix(seed ^ 0x9E3779B97F4A7C15)
    for k in keys:
        hi = mix(hi ^ mix((k + 0xD1B54A32D192ED03) & M64))
        lo = mix((lo + hi) & M64)
    state = ((hi << 64 | lo) * (2549297995355413924 << 64 | 4865540595714422341) + (6364136223846793005 << 64 | 1442695040888963407)) & M128
    hi, lo = state >> 64, state & M64
    hi ^= hi >> 32
    hi = hi * 0xDA942042E4DD58B5 & M64
    hi ^= hi >> 48
    hi = hi * (lo | 1) & M64
    return (hi >> 11) * 2.0**-53


def moments(target, kind, per_day, begin, end):
    """Pairs of (seconds since 1970, part of the day) in (begin, end]."""
    seed, part = fnv1a((target + "\0" + kind).encode()), 86400 / per_day
    out, day = [], int(begin // 86400) * 86400
    while day < end:
        for i in range(per_day):
            at = day + i * part + int(draw(seed, day, i) * part * 1e6) / 1e6
            if begin < at <= end:
                out.append((at, i))
        day += 86400
    return out


def stamp(text):
    """Seconds since 1970 of a moment in RFC 3339, with any number of digits."""
    main, _, rest = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(main + "+00:00").timestamp() + (float("0." + rest) if rest else 0)
