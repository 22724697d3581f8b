interface Entry {
  acknowledged: boolean
  /** What may be stored under the key. Empty: not known before it is acknowledged. */
  contents: Set<string>
}

/** What was written under which key, and what of it was acknowledged; kept outside of the installation. */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  acknowledged = 0
  failed = 0

  /** A write begins: from now on its content may be stored, or what was there before. */
  begin(key: string, content?: string): void {
    const entry = this.#entries.get(key) ?? { acknowledged: false, contents: new Set() }
    if (content !== undefined) entry.contents.add(content)
    this.#entries.set(key, entry)
  }

  /** From now on exactly this is stored. */
  acknowledge(key: string, content: string): void {
    this.acknowledged += 1
    this.#entries.set(key, { acknowledged: true, contents: new Set([content]) })
  }

  /** What must be there as it was acknowledged, because no later write of it has failed. */
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
