/** A window of a browser that goes from page to page with its cookies, without scripts. */
export function openWindow() {
  const jars = new Map<string, Map<string, string>>()
  const jarOf = (url: string) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    return jar
  }

  /** Asks for one page, and follows no redirect. */
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
   * Follows redirects as long as `until` says.
   *
   * @returns the last address and its answer; the answer of an address that ends it is null
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

  /** Goes to an address that leads to the login form of the provider, and sends the form. */
  async function logIn(url: string, login: string, until = isConsole) {
    const form = await go(url, {}, isConsole)
    if (!form.response || !form.at.includes('/interaction/')) return form
    const fields = { prompt: 'login', login, password: 'any' }
    return go(form.at, { method: 'POST', body: new URLSearchParams(fields) }, until)
  }

  return { ask, go, logIn, cookies: (url: string) => jarOf(url) }
}

export type Window = ReturnType<typeof openWindow>
