"""English words that a query may hold and that say nothing of what is looked for."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS = _words("""
    a about after again all also always am an and any anybody anyone anything are as at
    be because been before being but by
    can could
    did do does doing done during
    each either else ever every
    for from
    had has have having he her here hers herself him himself his how however
    i if in into is it its itself
    just
    like
    may me might mine more most much must my myself
    neither never no nor not now
    of off on once only onto or other our ours ourselves out over own
    please
    quite
    rather really
    same shall she should since so some somebody someone something still such
    tell than that the their theirs them themselves then there these they this those though through to too
    under until up upon us
    very via
    was we were what whatever when where whether which while who whom whose why will with within without would
    yet you your yours yourself yourselves
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren wouldn
""")
CONTRACTED = _words("d ll m re s t ve")
"""What stands behind the apostrophe: I'd, we'll, I'm, they're, what's, can't, you've."""
