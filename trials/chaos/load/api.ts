const timeoutMs = 5000

/** A client of the REST API that alternates between replicas. */
export class Api {
  #turn = 0

  constructor(
    readonly urls: string[],
    private readonly token: string,
  ) {}

  /** Sends a form, or a GET without one. Rejects when the answer is not a success. */
  async call(path: string, form?: Record<string, string>): Promise<Response> {
    this.#turn += 1
    const response = await fetch(`${this.urls[this.#turn % this.urls.length]}/api/v4/${path}`, {
      method: form ? 'POST' : 'GET',
      headers: { 'PRIVATE-TOKEN': this.token },
      ...(form && { body: new URLSearchParams(form) }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }

  async json<Body = Record<string, unknown>>(path: string, form?: Record<string, string>): Promise<Body> {
    return (await (await this.call(path, form)).json()) as Body
  }

  /** Sends JSON. */
  async post<Body>(path: string, body: object): Promise<Body> {
    this.#turn += 1
    const response = await fetch(`${this.urls[this.#turn % this.urls.length]}/api/v4/${path}`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': this.token, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Body
  }

  /** Returns all pages of a list. */
  async list(path: string): Promise<Record<string, unknown>[]> {
    const items: Record<string, unknown>[] = []
    const first = `${path}${path.includes('?') ? '&' : '?'}per_page=100`
    for (let page = 1; ; page += 1) {
      const found = await this.json<Record<string, unknown>[]>(`${first}&page=${page}`)
      items.push(...found)
      if (found.length < 100) return items
    }
  }
}
