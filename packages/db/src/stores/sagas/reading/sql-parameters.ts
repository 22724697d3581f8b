/** The parameters of a statement that is put together: text gets `$1`, `$2`, …, values go beside it. */
export class SqlParameters {
  readonly values: unknown[] = []

  /** @returns the placeholder that stands for the value */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
