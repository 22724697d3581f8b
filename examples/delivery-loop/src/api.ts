/** The API of an installation, called with a token. */
export interface Api {
  /** Returns the answer of the API; null: there is nothing at the address. */
  find<Answer>(path: string): Promise<Answer | null>
  get<Answer>(path: string): Promise<Answer>
  send<Answer>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answer>
}

/**
 * Creates the client.
 *
 * @param url of the installation
 */
export function createApi(url: string, token: string): Api {
  const ask = (method: string, path: string, body?: object) =>
    fetch(`${url}/api/v4${path}`, {
      method,
      headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }).catch(({ message, cause }: Error) => {
      const { code, message: why = message } = (cause ?? {}) as { code?: string; message?: string }
      const hint = 'on other ports, set SWITCHYARD_URL and SAGA_ADDRESS'
      throw new Error(`${url} does not answer (${code ?? why}): ${hint}.`)
    })
  async function read<Answer>(response: Response): Promise<Answer> {
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.url} was answered ${response.status}: ${text}`)
    return (text ? JSON.parse(text) : undefined) as Answer
  }
  return {
    async find(path) {
      const response = await ask('GET', path)
      return response.status === 404 ? null : read(response)
    },
    get: async (path) => read(await ask('GET', path)),
    send: async (method, path, body) => read(await ask(method, path, body)),
  }
}
