interface Entry {
  acknowledged: boolean
  /** Possible contents under the key. Empty: unknown until the write is acknowledged. */
  contents: Set<string>
}

/** The record of each write under its key, with what was acknowledged; stored outside of the installation. */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  acknowledged = 0
  failed = 0

  /** Records the start of a write: from now on, its content or the former content may be stored. */
  begin(key: string, content?: string): void {
    const entry = this.#entries.get(key) ?? { acknowledged: false, contents: new Set() }
    if (content !== undefined) entry.contents.add(content)
    this.#entries.set(key, entry)
  }

  /** Records an acknowledgement: from now on, exactly this content is stored. */
  acknowledge(key: string, content: string): void {
    this.acknowledged += 1
    this.#entries.set(key, { acknowledged: true, contents: new Set([content]) })
  }

  /** Returns the entries that must be stored as acknowledged, because no later write of them has failed. */
  acknowledgedEntries(): [key: string, content: string][] {
    return [...this.#entries].flatMap(([key, { acknowledged, contents }]) => {
      const [content = '', other] = contents
      return acknowledged && other === undefined ? [[key, content] as [string, string]] : []
    })
  }

  /** @returns the differences from the acknowledged writes: lost, duplicate, changed and unknown entries */
  compare(found: readonly (readonly [key: string, content: string])[]): string[] {
    const contentsOf = new Map<string, string[]>()
    for (const [key, content] of found) contentsOf.set(key, [...(contentsOf.get(key) ?? []), content])
    const lost = [...this.#entries]
      .filter(([key, { acknowledged }]) => acknowledged && !contentsOf.has(key))
      .map(([key]) => `${key} was acknowledged and is lost`)
    const wrong = [...contentsOf].flatMap(([key, contents]) => {
      const entry = this.#entries.get(key)
      if (!entry) return [`${key} was written by nobody`]
      if (contents.length > 1) return [`${key} is there ${contents.length} times`]
      const isRight = entry.contents.size === 0 || entry.contents.has(contents[0] ?? '')
      return isRight ? [] : [`${key} is ${contents[0]} in place of ${[...entry.contents].join(' or ')}`]
    })
    return [...lost, ...wrong]
  }
}
