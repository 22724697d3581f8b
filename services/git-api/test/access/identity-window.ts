/** Opens a browser window without scripts that keeps its cookies from page to page. */
export function openWindow() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }

  /** Requests one page without following redirects. */
  async function ask(url: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    const jar = jarOf(url)
    if (jar.size > 0) headers.set('Cookie', [...jar].map((pair) => pair.join('=')).join('; '))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split(/=(.*)/s)
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /**
   * Follows redirects until `until` returns true.
   *
   * @returns the last address and its answer; the answer is null when `until` ended it
   */
  async function go(url: string, init: RequestInit = {}, until = (_next: URL) => false) {
    let at = url
    let response = await ask(at, init)
    for (let hops = 0; hops < 20; hops += 1) {
      const location = response.headers.get('Location')
      if (location === null) return { at, response }
      at = new URL(location, at).href
      if (until(new URL(at))) return { at, response: null }
      response = await ask(at)
    }
    throw new Error(`too many redirects at ${at}`)
  }

  const isConsole = ({ pathname }: URL) => pathname.startsWith('/console')

  /** Opens an address that leads to the provider's login form, and submits the form. */
  async function logIn(url: string, login: string, until = isConsole) {
    const form = await go(url, {}, isConsole)
    if (!form.response || !form.at.includes('/interaction/')) return form
    const fields = { prompt: 'login', login, password: 'any' }
    return go(form.at, { method: 'POST', body: new URLSearchParams(fields) }, until)
  }

  return { ask, go, logIn, cookies: (url: string) => jarOf(url) }
}

export type Window = ReturnType<typeof openWindow>
