/** Returns a generator of numbers from 0 to 1 with a seed (mulberry32). */
export function chanceOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Returns the same items in an order that `chance` determines. */
export function shuffle<Item>(items: readonly Item[], chance: () => number): Item[] {
  return items
    .map((item) => ({ item, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
