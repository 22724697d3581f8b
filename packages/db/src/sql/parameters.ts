/** The parameters of a composed statement: the text contains `$1`, `$2`, …, and the values are beside it. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** @returns the placeholder of the value */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
