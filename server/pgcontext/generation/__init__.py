"""Everything that a model computes from texts, before they are stored and when they are looked for."""
