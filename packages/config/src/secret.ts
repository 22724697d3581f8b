import { inspect } from 'node:util'

const hidden = '[secret]'

/** A value that must not be printed: strings, JSON and inspection show a placeholder. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the secret value, for the one place that uses it. */
  reveal(): string {
    return this.#value
  }

  toString() {
    return hidden
  }

  toJSON() {
    return hidden
  }

  [inspect.custom]() {
    return hidden
  }
}
