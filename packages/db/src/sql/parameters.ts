/** The parameters of a composed statement: the text contains `$1`, `$2`, …, and the values are beside it. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** @returns the placeholder of the value */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Escapes a text for a LIKE pattern. Prisma's `contains` needs it, too. */
export const likeText = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
