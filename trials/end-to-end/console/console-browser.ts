import type { Browser, BrowserContext, ConsoleMessage, Page, Request } from 'playwright-core'

export interface Visit {
  page: Page
  context: BrowserContext
  /** Errors of the console, violations of the policy, and failed requests. */
  problems: string[]
  close(): Promise<void>
}

interface VisitOptions {
  url: string
  /** Unset: nobody is signed in. */
  token?: string
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  /** Lead of the browser's clock over the correct time. */
  clockAheadMs?: number
}

/** Opens a new browser window on the overview, or on no page without a token. */
export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { url, token, theme = 'light', width = 1280, height = 900 } = options
  const context = await browser.newContext({
    baseURL: url,
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
  })
  if (options.clockAheadMs !== undefined) await context.addInitScript(setClock, options.clockAheadMs)
  const page = await context.newPage()
  const problems = watchProblems(page)
  if (token !== undefined) {
    await beginSession(context, url, token)
    await page.goto('/console/')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  }
  return { page, context, problems, close: () => context.close() }
}

/** Gives a window the cookie that the console's form would get. */
async function beginSession(context: BrowserContext, url: string, token: string): Promise<void> {
  const headers = { 'Sec-Fetch-Site': 'same-origin' }
  const answer = await context.request.post(`${url}/api/v4/session`, { headers, data: { token } })
  if (!answer.ok()) throw new Error(`the session was answered ${answer.status()}`)
}

/** Runs in the browser: sets its clock ahead. */
function setClock(aheadMs: number): void {
  const RightDate = Date
  globalThis.Date = class extends RightDate {
    constructor(...given: ConstructorParameters<DateConstructor> | []) {
      if (given.length === 0) super(RightDate.now() + aheadMs)
      else super(...given)
    }
    static override now() {
      return RightDate.now() + aheadMs
    }
  } as DateConstructor
}

/** Signs in with the form of the console. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.goto('/console/sign-in')
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

function watchProblems(page: Page): string[] {
  const problems: string[] = []
  page.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`)
  })
  page.on('pageerror', (error) => problems.push(`page: ${error.message}`))
  page.on('requestfailed', (request: Request) => {
    // Leaving a page aborts its requests and streams.
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED') problems.push(`request: ${request.url()} ${reason}`)
  })
  return problems
}

/** Opens an address of the console and waits until nothing on it is busy. */
export async function open(page: Page, address: string): Promise<void> {
  await page.goto(`/console${address}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
}

/** Waits until no part of the page is busy. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector('main [aria-busy="true"]') === null)
}
