const timeoutMs = 5000

/** A client of the REST API that alternates between replicas. */
export class Api {
  #turn = 0

  constructor(
    readonly urls: string[],
    private readonly token: string,
  ) {}

  /** Sends a form, or a GET without one. Rejects when the answer is not a success. */
  call(path: string, form?: Record<string, string>): Promise<Response> {
    return this.#send(path, form ? { method: 'POST', body: new URLSearchParams(form) } : {})
  }

  async json<Body = Record<string, unknown>>(path: string, form?: Record<string, string>): Promise<Body> {
    return (await (await this.call(path, form)).json()) as Body
  }

  /** Sends JSON. */
  async post<Body>(path: string, body: object): Promise<Body> {
    const headers = { 'Content-Type': 'application/json' }
    const response = await this.#send(path, { method: 'POST', headers, body: JSON.stringify(body) })
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

  async #send(path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<Response> {
    this.#turn += 1
    const response = await fetch(`${this.urls[this.#turn % this.urls.length]}/api/v4/${path}`, {
      ...init,
      headers: { ...init.headers, 'PRIVATE-TOKEN': this.token },
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
}
